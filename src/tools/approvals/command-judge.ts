/** The judge of commands for the tools that run them. The parser is loaded with the first command. */
import type { CommandJudge } from '../approval.ts';

export function createCommandJudge(): CommandJudge {
  const reader = () => import('./judge-command.ts');
  return {
    judge: async (command, place) => (await reader()).judgeCommand(command, place),
    filesOf: async (command, place) => (await reader()).filesOf(command, place),
  };
}
