import { DomainError } from '../contract/domain-error.ts'
import { StartupError } from '../server/startup-error.ts'

export const exitFailure = 1
export const exitUsage = 2

/** What every command takes. */
export interface OutputOptions {
  json?: boolean
}

/** The result: with `--json` one object on one line and nothing else on stdout, else text for people. */
export function printResult(options: OutputOptions, result: object, text: string): void {
  process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : `${text}\n`)
}

/** What went wrong and what to do about it, without a stack. */
export function describeError(error: unknown): string {
  if (error instanceof StartupError) return `${error.message}\n${error.fix}`
  if (error instanceof DomainError) {
    if (error.slug !== 'validation-failed' || !error.errors) return error.message
    return error.errors.map(({ pointer, detail }) => `${fieldName(pointer)} ${detail}`).join('\n')
  }
  const message = error instanceof Error ? error.message : String(error)
  return `${message}\nThis was not expected. Set HUB_LOG_LEVEL=debug to see where it came from.`
}

/** `/admin_email` as the command line calls it: `admin-email`. */
function fieldName(pointer: string): string {
  return pointer.slice(1).replaceAll('_', '-').replaceAll('/', ' ')
}
