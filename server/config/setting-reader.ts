import { isIP } from 'node:net'
import type { ConfigProblem } from '../startup-error.ts'
import { readSecretText, type SecretText, secretVariables } from './secret-files.ts'

/** The text of a setting and its source, under the name that the operator knows. */
interface Source {
  readonly variable: string
  readonly text: string
}

/** Reads settings from an environment and collects all problems instead of throwing at the first. */
export class SettingReader {
  readonly problems: ConfigProblem[] = []
  readonly #env: NodeJS.ProcessEnv
  /** Secrets are read once: a file may change meanwhile, and its problem is reported once. */
  readonly #secrets = new Map<string, SecretText>()

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env
  }

  /**
   * Returns the text of a variable; of a secret also from the file that `<variable>_FILE` names. An empty variable counts
   * as unset, as in most shells' defaults.
   */
  text(variable: string): string | undefined {
    return secretVariables.includes(variable) ? this.#secret(variable).text : this.#env[variable] || undefined
  }

  /** Returns whether a secret is set, even if its file cannot be used. That problem is then reported alone. */
  isSet(variable: string): boolean {
    return this.text(variable) !== undefined || this.#secrets.get(variable)?.problem !== undefined
  }

  #secret(variable: string): SecretText {
    const known = this.#secrets.get(variable)
    if (known) return known
    const read = readSecretText(this.#env, variable)
    this.#secrets.set(variable, read)
    if (read.problem) this.problems.push({ variable: read.variable, ...read.problem })
    return read
  }

  /** Returns the flag of the command line, or else the variable. Problems name the one that was used. */
  source(variable: string, flag?: { name: string; value: string | number | undefined }): Source | undefined {
    if (flag?.value !== undefined) return { variable: flag.name, text: String(flag.value) }
    const text = this.text(variable)
    return text === undefined ? undefined : { variable, text }
  }

  /** Adds a problem. That of a secret from a file names the variable of the file. */
  report(variable: string, problem: string, fix: string): void {
    const source = this.#secrets.get(variable)?.variable ?? variable
    const text = source === variable ? problem : `names a file whose content ${problem}`
    this.problems.push({ variable: source, problem: text, fix })
  }

  choice<T extends string>(source: Source | undefined, choices: readonly T[], fallback: T): T {
    if (!source) return fallback
    const found = choices.find((choice) => choice === source.text)
    if (!found) this.report(source.variable, `is "${source.text}".`, `Use one of ${choices.join(', ')}.`)
    return found ?? fallback
  }

  integer(source: Source | undefined, range: { min: number; max: number }, fallback: number): number {
    if (!source) return fallback
    const value = /^\d{1,9}$/.test(source.text) ? Number(source.text) : Number.NaN
    if (value >= range.min && value <= range.max) return value
    this.report(source.variable, `is "${source.text}".`, `Use a whole number from ${range.min} to ${range.max}.`)
    return fallback
  }

  /** Reads a positive decimal number. */
  factor(source: Source | undefined, fallback: number): number {
    if (!source) return fallback
    const value = /^\d{1,9}(\.\d{1,9})?$/.test(source.text) ? Number(source.text) : 0
    if (value > 0) return value
    this.report(source.variable, `is "${source.text}".`, 'Use a number above 0, such as 10 or 0.5.')
    return fallback
  }

  /** Reads a URL of one of the given schemes. Problems never repeat the text, because it may contain a password. */
  url(variable: string, schemes: readonly string[], example: string): string | undefined {
    const text = this.text(variable)
    if (text === undefined) return undefined
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
    if (scheme !== undefined && schemes.includes(scheme) && !/\s/.test(text)) return text
    this.report(
      variable,
      `is not a URL that starts with ${schemes.map((s) => `${s}:`).join(' or ')}.`,
      `Use, for example, ${example}`,
    )
    return undefined
  }

  /** Parses a text. The message of a thrown error completes the name of the variable. */
  parsed<T>(variable: string, parse: (text: string) => T, example: string): T | undefined {
    const text = this.text(variable)
    if (text === undefined) return undefined
    try {
      return parse(text)
    } catch (error) {
      this.report(variable, (error as Error).message, `Use, for example, ${example}`)
      return undefined
    }
  }

  /** Reads a text that `parse` accepts (see {@link parsed}). */
  checked(variable: string, parse: (text: string) => unknown, example: string): string | undefined {
    const asText = (text: string) => {
      parse(text)
      return text
    }
    return this.parsed(variable, asText, example)
  }

  /** Reads the address of a web service: only scheme, host and port, without a trailing slash. */
  origin(variable: string, options: { httpsOnly: boolean }): string | undefined {
    const text = this.text(variable)
    if (text === undefined) return undefined
    const url = URL.canParse(text) ? new URL(text) : undefined
    const example = 'https://hub.example.com'
    if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
      this.report(variable, `is "${text}", which is not an http(s) URL.`, `Use, for example, ${example}`)
      return undefined
    }
    if (url.username || url.password || url.search || url.hash || url.pathname !== '/') {
      this.report(variable, 'has more than a scheme, a host and a port.', `Use, for example, ${example}`)
      return undefined
    }
    if (options.httpsOnly && url.protocol !== 'https:') {
      this.report(variable, `is "${text}", but outside development it must be https.`, `Use, for example, ${example}`)
      return undefined
    }
    return url.origin
  }

  /** Reads comma-separated addresses and CIDR ranges, and host names if `hosts` is set. */
  networks(variable: string, options: { hosts: boolean }): readonly string[] {
    const entries = (this.text(variable) ?? '')
      .split(',')
      .map((entry) => entry.trim().toLowerCase())
      .filter((entry) => entry !== '')
    const wrong = entries.filter((entry) => !isNetwork(entry) && !(options.hosts && isHostName(entry)))
    if (wrong.length > 0) {
      const kinds = options.hosts ? 'hosts, addresses or CIDR ranges' : 'addresses or CIDR ranges'
      this.report(variable, `contains ${wrong.map((w) => `"${w}"`).join(', ')}.`, `Use ${kinds}, separated by commas.`)
    }
    return Object.freeze(entries)
  }
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}

function isHostName(text: string): boolean {
  return /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(text)
}
