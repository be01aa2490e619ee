import { Argument, type Command } from 'commander'
import { commandWords } from '../completion/command-words.ts'
import { completionScripts, type Shell } from '../completion/completion-scripts.ts'

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('Print the script that completes commands, options and their values in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(completionScripts)))
    .addHelpText('after', '\nExample:\n  source <(hub completion bash)')
    .action((shell: Shell) => {
      process.stdout.write(completionScripts[shell](commandWords(program)))
    })
}
