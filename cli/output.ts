import { DomainError } from '../contract/domain-error.ts'
import { HubConnectionError, HubError } from '../sdk/typescript/src/index.ts'
import { StartupError } from '../server/startup-error.ts'
import { NotSignedInError } from './login/login-errors.ts'
import { flagOf } from './query-options.ts'
import { terminalJson, terminalLines } from './terminal-text.ts'

/** Exit codes, which docs/commands.md documents. */
export const exitFailure = 1
export const exitUsage = 2
const exitNotSignedIn = 3
const exitForbidden = 4
const exitNotFound = 5
const exitUnavailable = 6

/** Options of every command. */
export interface OutputOptions {
  json?: boolean
}

/** Prints the result: with `--json` one object on one line and nothing else on stdout, otherwise text for people. */
export function printResult(options: OutputOptions, result: object, text: string): void {
  process.stdout.write(options.json ? `${terminalJson(result)}\n` : `${text}\n`)
}

/** Returns an example for the end of a command's help. */
export function example(command: string): string {
  return `\nExample:\n  npm run hub -- ${command}`
}

/** Returns the problem and its fix for a terminal, without a stack. Parts of it may be text of a server. */
export function describeError(error: unknown): string {
  return terminalLines(errorText(error))
}

function errorText(error: unknown): string {
  if (error instanceof StartupError) return `${error.message}\n${error.fix}`
  if (error instanceof HubError) return refusalText(error)
  if (error instanceof HubConnectionError) {
    return `${error.message}\nSee that the Hub runs, and that its address is right. Then try again.`
  }
  if (error instanceof DomainError) {
    if (error.slug !== 'validation-failed' || !error.errors) return error.message
    return error.errors.map(({ pointer, detail }) => `${fieldName(pointer)} ${detail}`).join('\n')
  }
  const message = error instanceof Error ? error.message : String(error)
  return `${message}\nThis was not expected. Set HUB_LOG_LEVEL=debug to see where it came from.`
}

/** Thrown if arguments or input of a command are not usable. */
export class UsageError extends StartupError {
  override readonly name = 'UsageError'
}

/** Returns the exit code of a failed command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof NotSignedInError) return exitNotSignedIn
  if (error instanceof UsageError) return exitUsage
  if (error instanceof HubConnectionError) return exitUnavailable
  if (!(error instanceof HubError)) return exitFailure
  const { status } = error
  if (status === 429 || status >= 500) return exitUnavailable
  return { 400: exitUsage, 401: exitNotSignedIn, 403: exitForbidden, 404: exitNotFound }[status] ?? exitFailure
}

/** Returns the reason of the Hub, with the flags that it is about, and the fix where the command knows one. */
function refusalText(error: HubError): string {
  const { status, slug, detail, errors, retryAfter } = error
  const reason =
    errors.length > 0
      ? errors.map((each) => `${placeOf(each.pointer)} ${each.detail}`).join('\n')
      : (detail ?? `The Hub answered ${status} (${slug}).`)
  if (status === 401) {
    return `The Hub refused the credentials: ${reason}\nRun hub login again, or correct HUB_CLIENT_ID and HUB_CLIENT_SECRET.`
  }
  if (status === 429) return `${reason}\nTry again${retryAfter ? ` in ${counted(retryAfter, 'second')}` : ' later'}.`
  return reason
}

/** Returns the flag of a parameter (`/query/skill_id` is `--skill-id`), or the pointer into a body. */
function placeOf(pointer: string): string {
  const name = /^\/(?:query|filter)\/(\w+)/.exec(pointer)?.[1]
  return name === undefined ? pointer : flagOf(name)
}

/**
 * Returns the flag or argument of a field: `/admin_email` is `--admin-email`, `/archetypes/1/archetype_id` is `id 2`.
 */
function fieldName(pointer: string): string {
  const [field = '', index] = pointer.slice(1).split('/')
  if (field === 'archetypes' && index !== undefined) return `id ${Number(index) + 1}`
  return flags[index ?? field] ?? field.replaceAll('_', '-')
}

const flags: Record<string, string> = {
  admin_email: '--admin-email',
  base_url: '--base-url',
  exports_per_day: '--per-day',
  from: '--from',
  mb_kept: '--mb-kept',
  name: '--name',
  scopes: '--scope',
  slug: 'the slug',
  to: '--to',
}

/** Returns a number with its noun, as commands print it: `1 record`, `2 records`, `1,024 entries`. */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? one : many}`
}

/**
 * Shows progress on stderr: one updated line on a terminal, otherwise one line for each step. `total` 0 means that it is
 * not known.
 */
export function createProgressLine() {
  let shown = ''
  return {
    show({ step, done, total }: { step: string; done: number; total: number }): void {
      const isTerminal = process.stderr.isTTY
      const part = total === 0 ? '     ' : `${String(Math.floor((100 * done) / total)).padStart(3)} %`
      const text = isTerminal ? `  ${part}  ${step}` : `  ${step}`
      if (text === shown) return
      process.stderr.write(isTerminal ? `\r${text.padEnd(shown.length)}` : `${text}\n`)
      shown = text
    },
    end(): void {
      process.stderr.write(process.stderr.isTTY ? '\n\n' : '\n')
    },
  }
}
