/**
 * A server's tool as a tool of ours. It is described as it was approved; what it is now is looked at with every call. A
 * server that is not there, or not any more, is a failed call and never a broken turn.
 */
import type { Gate } from '../approval.ts';
import { afterAnswer, throughGate } from '../gated.ts';
import type { Log } from '../../lib/log.ts';
import type { ToolDefinition } from '../../protocol/messages.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tool.ts';
import { frozenCall, planFor } from './call-policy.ts';
import { checkArguments, type CallArguments } from './check-arguments.ts';
import { cleanSchema, schemaShape } from './clean-schema.ts';
import type { Connection } from './open-connection.ts';
import { McpError, type SeenTool } from './mcp-server.ts';
import { reportedFailure, resultOutcome } from './result-outcome.ts';
import type { ServerLink } from './server-link.ts';
import type { PinnedTool, ToolPins } from './tool-pins.ts';
import { visibleText } from './visible-text.ts';

const descriptionCharsMax = 1_024;

export interface McpToolDeps {
  readonly gate: Gate;
  readonly pins: ToolPins;
  readonly log: Log;
  /** Null if the server is not configured any more. */
  readonly link: (server: string) => ServerLink | null;
}

export function toolDefinition(name: string, server: string, pinned: PinnedTool): ToolDefinition {
  // Nobody has looked at what it says: orders could be hidden in it, and the prompt carries no mark of a stranger's text.
  if (!pinned.isApproved) {
    const description = `A new tool of the MCP server ${server}. What it says of itself is told once a person has approved it; its first call asks for that.`;
    return Object.freeze({ name, description, parameters: schemaShape(pinned.inputSchema) });
  }
  const words = visibleText(pinned.description, descriptionCharsMax);
  return Object.freeze({
    name,
    description: `MCP server ${server} says: ${words === '' ? pinned.name : words}`,
    parameters: cleanSchema(pinned.inputSchema),
  });
}

export function createMcpTool(
  deps: McpToolDeps,
  name: string,
  server: string,
  pinned: PinnedTool,
): Tool<CallArguments> {
  const definition = toolDefinition(name, server, pinned);
  const isReadOnly = pinned.hints.readOnlyHint === true;
  const failed = (text: string): ToolOutcome => ({ kind: 'failed', text });

  /** Connects first: what would be called is known only then. */
  const withServer = async (
    context: ToolContext,
    use: (link: ServerLink, connection: Connection, seen: SeenTool) => Promise<ToolOutcome>,
  ): Promise<ToolOutcome> => {
    const link = deps.link(server);
    if (link === null) return failed(`There is no MCP server named ${server} any more.`);
    let connection: Connection;
    try {
      connection = await link.ready(link.settings.timeout_s * 1_000, context.signal);
    } catch (error) {
      if (context.signal.aborted) throw error;
      const why = error instanceof McpError ? error.message : 'It can not be reached.';
      return failed(`The MCP server ${server} can't be used now. ${why} Do without it, or try again later.`);
    }
    const seen = link.seen(pinned.name);
    if (seen === undefined) return failed(`The MCP server ${server} does not have this tool any more.`);
    return use(link, connection, seen);
  };

  const run = (input: CallArguments, context: ToolContext) =>
    withServer(context, async (link, connection, seen) => {
      deps.pins.reread();
      const before = deps.pins.of(server)?.tools.find((tool) => tool.name === seen.name) ?? null;
      const standing = deps.pins.standing(server, seen);
      const plan = planFor(
        { server, place: connection.place, seen, standing, input, pinned: before?.isApproved === true ? before : null },
        context,
      );
      const act = () => approvedCall(link, connection, seen, input, context);
      if (plan === null) return act();
      const outcome = await throughGate(deps.gate, plan, context, act);
      const isRefused = outcome.kind === 'failed' && deps.pins.standing(server, seen) !== 'approved';
      // A long description can't be shown in a question; there is another way to look at it.
      return isRefused
        ? failed(`${outcome.text} A person can approve the tool with: talaria mcp test ${server}`)
        : outcome;
    });

  const approvedCall = async (
    link: ServerLink,
    connection: Connection,
    seen: SeenTool,
    input: CallArguments,
    context: ToolContext,
  ): Promise<ToolOutcome> => {
    if (deps.pins.standing(server, seen) !== 'approved') {
      deps.log.warn('MCP tool approved as it is now', { server, tool: seen.name, definition: seen.hash });
      await deps.pins.approve(server, [seen]);
    }
    return callTool(link, connection, seen, input, context);
  };

  return {
    definition,
    server,
    effect: isReadOnly ? 'read' : 'write',
    replay: isReadOnly ? 'safe' : 'never',
    parse: (input) => checkArguments(definition.parameters, input),
    run,
    answered: (input, answer, context, asked) =>
      afterAnswer(deps.gate, asked, answer, context, (frozen) =>
        withServer(context, async (link, connection, seen) => {
          if (frozen === frozenCall({ seen, input })) return approvedCall(link, connection, seen, input, context);
          return failed('Not done: the tool is not what was approved any more. Ask for it again.');
        }),
      ),
  };
}

async function callTool(
  link: ServerLink,
  connection: Connection,
  seen: SeenTool,
  input: CallArguments,
  context: ToolContext,
  mayTryAgain = true,
): Promise<ToolOutcome> {
  const timeoutMs = link.settings.timeout_s * 1_000;
  const onProgress = (words: string) => context.onOutput(`${visibleText(words, 200)}\n`);
  try {
    return resultOutcome(await connection.call(seen.name, input, { timeoutMs, signal: context.signal, onProgress }));
  } catch (error) {
    if (context.signal.aborted) throw error;
    // The server does not know us any more, so it has done nothing.
    const anew = mayTryAgain && isForgotten(error) ? await connectedAnew(link, connection, context.signal) : null;
    if (anew !== null && link.seen(seen.name)?.hash === seen.hash) {
      return callTool(link, anew, seen, input, context, false);
    }
    return failedCall(link, connection, error);
  }
}

function isForgotten(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 404;
}

async function connectedAnew(link: ServerLink, old: Connection, signal: AbortSignal): Promise<Connection | null> {
  await link.drop(old, 'it does not know us any more');
  return link.ready(link.settings.timeout_s * 1_000, signal).catch(() => null);
}

async function failedCall(link: ServerLink, connection: Connection, error: unknown): Promise<ToolOutcome> {
  const sdk = await import('@modelcontextprotocol/client');
  if (sdk.ProtocolError.isInstance(error)) return reportedFailure(error.message);
  const unknown = 'Whether it did anything is not known: check before you do it again.';
  if (sdk.SdkError.isInstance(error) && error.code === sdk.SdkErrorCode.RequestTimeout) {
    return { kind: 'failed', text: `The tool did not answer within ${link.settings.timeout_s} seconds. ${unknown}` };
  }
  if (sdk.SdkError.isInstance(error) && error.code === sdk.SdkErrorCode.InvalidResult) {
    return { kind: 'failed', text: `The server's answer is not in the form that the protocol asks for. ${unknown}` };
  }
  await link.drop(connection, 'a call failed');
  return {
    kind: 'failed',
    text: `The MCP server ${link.name} was lost during the call; it is being connected again. ${unknown}`,
  };
}
