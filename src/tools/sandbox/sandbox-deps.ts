/** What the sandboxes need from around them. */
export interface SandboxDeps {
  /** A folder of Talaria's own, not seen from inside: filters, proofs, what is held. Made when needed. */
  readonly stateFolder: string;
  /** The Node that runs Talaria: forwards the network inside and is the probe's only tool. */
  readonly nodePath: string;
  /** Where the programs that build a sandbox are looked for. Not the commands' PATH. */
  readonly programFolders?: readonly string[];
  /** `process.arch`; another one in tests. */
  readonly architecture?: string;
  /** `process.platform`; another one in tests. */
  readonly platform?: string;
  /** Whether commands are root's; another answer in tests. */
  readonly isRoot?: boolean;
}

export const systemProgramFolders: readonly string[] = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];
