/** States why the Hub cannot start, for an operator: without a stack, and always with a fix. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError'
  readonly fix: string

  constructor(message: string, fix: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.fix = fix
  }
}

/** Describes why a named file cannot be read, from the error of the operating system, without its path. */
export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'the file does not exist'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'EACCES') return 'permission denied'
  return message
}

/** One problem of the configuration. `variable` is an environment variable or a command-line flag. */
export interface ConfigProblem {
  readonly variable: string
  readonly problem: string
  readonly fix: string
}

/** Reports every problem of a configuration at once, so that an operator corrects them together. */
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
