import { DomainError } from '../contract/domain-error.ts'
import { StartupError } from '../server/startup-error.ts'

export const exitFailure = 1
export const exitUsage = 2

/** Options of every command. */
export interface OutputOptions {
  json?: boolean
}

/** Prints the result: with `--json` one object on one line and nothing else on stdout, otherwise text for people. */
export function printResult(options: OutputOptions, result: object, text: string): void {
  process.stdout.write(options.json ? `${JSON.stringify(result)}\n` : `${text}\n`)
}

/** Returns an example for the end of a command's help. */
export function example(command: string): string {
  return `\nExample:\n  npm run hub -- ${command}`
}

/** Returns the problem and its fix, without a stack. */
export function describeError(error: unknown): string {
  if (error instanceof StartupError) return `${error.message}\n${error.fix}`
  if (error instanceof DomainError) {
    if (error.slug !== 'validation-failed' || !error.errors) return error.message
    return error.errors.map(({ pointer, detail }) => `${fieldName(pointer)} ${detail}`).join('\n')
  }
  const message = error instanceof Error ? error.message : String(error)
  return `${message}\nThis was not expected. Set HUB_LOG_LEVEL=debug to see where it came from.`
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
