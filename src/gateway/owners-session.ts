/**
 * Whether a session is the owner's own: one of the machine's, or the direct chat of a person who has the owner's role on
 * their channel. A group is nobody's own, because the words of others come in there; neither is what a program writes
 * through a key.
 */
import type { SessionId } from '../protocol/ids.ts';
import type { Authorize, AuthorizeDeps } from './authorize.ts';
import { machineOwner, personOf } from './route-session.ts';

export interface OwnersSessionDeps {
  readonly authorize: Authorize;
  readonly policy: AuthorizeDeps['policy'];
  readonly session: (id: SessionId) => Promise<{ readonly key: string; readonly owner: string } | null>;
}

export function createIsOwners({ authorize, policy, session }: OwnersSessionDeps): (id: SessionId) => Promise<boolean> {
  return async (id) => {
    const found = await session(id);
    if (found === null || found.owner === machineOwner) return found !== null;
    const person = personOf(found.owner);
    const isDirect = found.key.split(':')[1] === 'direct';
    if (person === null || !isDirect || policy(person.channel) === null) return false;
    // By id alone: what somebody is called now, nobody has said here.
    return (await authorize(person.channel, { id: person.id, name: '' })) === 'owner';
  };
}
