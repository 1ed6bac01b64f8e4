/** Who may write, who asked to, who was turned away, what was allowed, and the keys of the API: on the in-memory data. */
import type {
  ApiKeyRecord,
  ApprovalResult,
  GrantRecord,
  PairingLimits,
  PairingRequest,
  PairingResult,
  Person,
  Refusal,
  Role,
} from '../../src/store/store.ts';
import { conflict, pair, type Transaction } from './memory-data.ts';

const refusalsMax = 1000;

export function addPerson(on: Transaction, { channel, userId, name, role }: Omit<Person, 'addedAt'>): Person {
  const { people, pairings } = on.data;
  const who = pair(channel, userId);
  on.delete(pairings, who);
  const person = { channel, userId, name, role, addedAt: people.get(who)?.addedAt ?? on.now };
  on.set(people, who, person);
  return person;
}

export function removePerson(on: Transaction, channel: string, userId: string): boolean {
  const who = pair(channel, userId);
  const isThere = on.data.people.has(who);
  on.delete(on.data.people, who);
  return isThere;
}

export function requestPairing(
  on: Transaction,
  request: PairingRequest & { readonly codeHash: string },
  { pendingMax }: PairingLimits,
): PairingResult {
  const { pairings } = on.data;
  for (const [who, { expiresAt }] of pairings) if (expiresAt <= on.now) on.delete(pairings, who);
  const who = pair(request.channel, request.userId);
  if (pairings.has(who)) return { kind: 'pending' };
  const pending = [...pairings.values()];
  if (pending.filter(({ channel }) => channel === request.channel).length >= pendingMax) return { kind: 'full' };
  if (pending.some(({ codeHash }) => codeHash === request.codeHash)) throw conflict('the code is given out already');
  on.set(pairings, who, { ...request });
  return { kind: 'requested' };
}

export function approvePairing(on: Transaction, hash: string, role: Role, limits: PairingLimits): ApprovalResult {
  const { guard, pairings } = on.data;
  if (guard.lockedUntil > on.now) return { kind: 'locked', until: guard.lockedUntil };
  for (const { channel, userId, name, codeHash, expiresAt } of pairings.values()) {
    if (codeHash !== hash || expiresAt <= on.now) continue;
    on.assign(guard, { wrong: 0, lockedUntil: 0 });
    return { kind: 'approved', person: addPerson(on, { channel, userId, name, role }) };
  }
  const triesLeft = Math.max(0, limits.wrongMax - guard.wrong - 1);
  if (triesLeft > 0) on.assign(guard, { wrong: guard.wrong + 1 });
  else on.assign(guard, { wrong: 0, lockedUntil: on.now + limits.lockMs });
  return { kind: 'wrong', triesLeft };
}

export function recordRefusal(
  on: Transaction,
  { channel, userId, name }: Pick<Refusal, 'channel' | 'userId' | 'name'>,
) {
  const { refusals } = on.data;
  const who = pair(channel, userId);
  const count = (refusals.get(who)?.count ?? 0) + 1;
  on.delete(refusals, who);
  on.set(refusals, who, { channel, userId, name, count, lastAt: on.now });
  const [oldest] = refusals.keys();
  if (refusals.size > refusalsMax && oldest !== undefined) on.delete(refusals, oldest);
}

export function addApiKey(on: Transaction, { name, sha256 }: Omit<ApiKeyRecord, 'createdAt'>): void {
  if (on.data.apiKeys.has(name)) throw conflict(`there is an API key named ${name} already`);
  on.set(on.data.apiKeys, name, { name, sha256, createdAt: on.now });
}

export function removeApiKey(on: Transaction, name: string): boolean {
  const isThere = on.data.apiKeys.has(name);
  on.delete(on.data.apiKeys, name);
  return isThere;
}

export function addGrant(on: Transaction, grant: Omit<GrantRecord, 'id' | 'grantedAt'>): void {
  const { grants, totals, sessions } = on.data;
  const { sessionId, kind, subject, shown } = grant;
  if (sessionId !== null && !sessions.has(sessionId)) return;
  for (const one of grants.values()) {
    if (one.sessionId === sessionId && one.kind === kind && one.subject === subject) return;
  }
  const id = totals.grantNumber + 1;
  on.assign(totals, { grantNumber: id });
  on.set(grants, id, { id, sessionId, kind, subject, shown, grantedAt: on.now });
}

export function removeGrant(on: Transaction, id: number): boolean {
  const isThere = on.data.grants.has(id);
  on.delete(on.data.grants, id);
  return isThere;
}
