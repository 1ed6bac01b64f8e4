/** The family of tools that work on files in the workspace. */
import type { Tool } from '../tool.ts';
import { createReadFileTool } from './read-file-tool.ts';
import { createWriteFileTool } from './write-file-tool.ts';

export function createFileTools(): Tool[] {
  return [createReadFileTool(), createWriteFileTool()];
}
