/** Why the Hub cannot start, told to an operator: no stack, and always what to do about it. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError'
  readonly fix: string

  constructor(message: string, fix: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.fix = fix
  }
}

/** Why a file that somebody named cannot be read: what an error of the operating system says, without its path. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'EACCES') return 'permission denied'
  return message
}

/** One thing wrong with the configuration. `variable` is an environment variable or a command-line flag. */
export interface ConfigProblem {
  readonly variable: string
  readonly problem: string
  readonly fix: string
}

/** Every problem of a configuration at once, so that an operator corrects them in one go. */
export class ConfigError extends StartupError {
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map((each) => `  ${each.variable} ${each.problem}\n    ${each.fix}`)
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
    super(
      `The configuration has ${count}:\n${lines.join('\n')}`,
      `Set ${problems.map((each) => each.variable).join(', ')} as described, and start again.`,
    )
    this.problems = problems
  }
}
