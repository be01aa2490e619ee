/** Nothing can be said of what was given, good or bad. `fix` tells what to do about it. */
export class CannotCheckError extends Error {
  override readonly name = 'CannotCheckError'
  readonly fix: string

  constructor(message: string, fix: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.fix = fix
  }
}

/** What an error of the operating system says, without its stack and path. */
export function causeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return 'there is no such file'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'EACCES') return 'permission denied'
  return message
}
