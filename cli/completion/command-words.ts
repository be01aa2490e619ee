import type { Command, Option } from 'commander'

/** A command as shell completion needs it, from its declaration. */
export interface CommandWords {
  /** The words of the command, such as `hub records query`. */
  path: string
  commands: Word[]
  options: OptionWord[]
  /** Values of its first argument, if they are fixed. */
  choices: readonly string[]
  /** True if it takes files. */
  takesFile: boolean
}

export interface Word {
  word: string
  text: string
}

export interface OptionWord extends Word {
  takesValue: boolean
  choices: readonly string[]
}

/** Returns a command and all below it. */
export function commandWords(command: Command, above = ''): CommandWords[] {
  const path = `${above} ${command.name()}`.trim()
  const help = command.createHelp()
  const inner = help.visibleCommands(command).filter((each) => command.commands.includes(each))
  const { registeredArguments } = command
  return [
    {
      path,
      commands: inner.map((each) => ({ word: each.name(), text: summaryOf(each.description()) })),
      options: help.visibleOptions(command).flatMap(optionWords),
      choices: registeredArguments[0]?.argChoices ?? [],
      takesFile: registeredArguments.some((each) => each.name() === 'file'),
    },
    ...inner.flatMap((each) => commandWords(each, path)),
  ]
}

function optionWords({ long, description, required, optional, argChoices = [] }: Option): OptionWord[] {
  if (!long) return []
  return [{ word: long, text: summaryOf(description), takesValue: required || optional, choices: argChoices }]
}

/** Returns the first sentence, without characters that mean something to a shell or a list of completions. */
function summaryOf(text: string): string {
  const [first = ''] = text.split(/[.:;(]\s|\n/)
  return first.replaceAll(/[^\p{L}\p{N} ,./_-]/gu, '').slice(0, 70)
}
