/**
 * Connects to one server, once, for a person who looks at it: signs in if need be, says what it offers and what of that has
 * changed since it was approved. What it finds on a new server is approved; what has changed only if the person says so.
 */
import { connectServer, type ConnectDeps } from './connect-server.ts';
import { definitionChange } from './definition-change.ts';
import { notListed, type McpServerSettings, type SeenTool } from './mcp-server.ts';
import { identityOf, pinsPath, ToolPins, type Standing } from './tool-pins.ts';

export interface TriedTool {
  readonly name: string;
  readonly description: string;
  readonly effect: 'read' | 'write';
  readonly standing: Standing;
  /** How it differs from what was approved; empty if it does not. */
  readonly change: string;
}

export interface TriedServer {
  readonly description: string;
  readonly tools: readonly TriedTool[];
  /** Approves all tools as they are now. */
  approve(): Promise<void>;
}

/** Throws an `McpError`. */
export async function tryServer(
  deps: ConnectDeps,
  name: string,
  settings: McpServerSettings,
  signal: AbortSignal,
): Promise<TriedServer> {
  const connection = await connectServer(deps, name, settings, { signal, onToolsChanged: () => {} });
  let seen: readonly SeenTool[];
  try {
    seen = await connection.listTools(signal);
  } catch (error) {
    throw signal.aborted ? (signal.reason as Error) : notListed(error);
  } finally {
    await connection.close();
  }
  const pins = new ToolPins(pinsPath(deps.home));
  await pins.see(name, identityOf(settings), seen);
  return {
    description: connection.description,
    tools: seen.map((tool) => triedTool(pins, name, tool)),
    approve: () => pins.approve(name, seen),
  };
}

function triedTool(pins: ToolPins, server: string, tool: SeenTool): TriedTool {
  const standing = pins.standing(server, tool);
  const pin = pins.of(server)?.tools.find(({ name }) => name === tool.name);
  return {
    name: tool.name,
    description: tool.description,
    effect: tool.hints.readOnlyHint === true ? 'read' : 'write',
    standing,
    change: standing === 'approved' ? '' : definitionChange(pin?.isApproved === true ? pin : null, tool),
  };
}
