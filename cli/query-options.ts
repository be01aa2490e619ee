import { type Command, InvalidArgumentError, Option } from 'commander'
import type { TObject } from 'typebox'

/** The keywords of JSON Schema that the members of queries and filters use. */
interface MemberSchema {
  type?: string
  description?: string
  default?: unknown
  enum?: readonly string[]
  items?: MemberSchema
  minimum?: number
  maximum?: number
}

/** Declared options of a command, by the member that each fills. */
export interface DeclaredOptions {
  /** Returns the given members, with the types of the schema. */
  read(options: Readonly<Record<string, unknown>>): Record<string, unknown>
}

/**
 * Declares one option for each member of a schema of the API, so that both have the same names, values and bounds:
 * `created_at__gte` is `--created-at-gte`.
 *
 * @param except members without an option
 */
export function addSchemaOptions(command: Command, schema: TObject, except: readonly string[] = []): DeclaredOptions {
  const names = new Map<string, string>()
  for (const [name, member] of Object.entries(schema.properties as Record<string, MemberSchema>)) {
    if (except.includes(name)) continue
    const option = optionOf(name, member)
    names.set(option.attributeName(), name)
    command.addOption(option)
  }
  return {
    read: (options) =>
      Object.fromEntries(
        Object.entries(options).flatMap(([key, value]) => {
          const name = names.get(key)
          return name === undefined || value === undefined ? [] : [[name, value]]
        }),
      ),
  }
}

/** Returns the flag of a member: `created_at__gte` is `--created-at-gte`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll(/_+/g, '-')}`
}

/** Returns a parser of whole numbers for an option. It throws InvalidArgumentError out of the bounds. */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d{1,16}$/.test(text) && value >= minimum && value <= maximum) return value
    const bounds = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`
    throw new InvalidArgumentError(`It must be a whole number ${bounds}.`)
  }
}

function optionOf(name: string, member: MemberSchema): Option {
  const flag = flagOf(name)
  const text = (member.description ?? `Only this ${name.replaceAll('_', ' ')}`).replaceAll('`', '')
  const { type, minimum = 0, maximum } = member
  if (type === 'boolean' && member.default === false) return new Option(flag, text)
  if (type === 'boolean') {
    return new Option(`${flag} <true|false>`, text).choices(['true', 'false']).argParser((given) => {
      if (given === 'true' || given === 'false') return given === 'true'
      throw new InvalidArgumentError('It must be true or false.')
    })
  }
  const choices = member.enum ?? member.items?.enum
  const value = type === 'integer' || type === 'number' ? 'number' : choices ? 'name' : 'value'
  const option = new Option(`${flag} <${value}${type === 'array' ? '...' : ''}>`, text)
  if (choices) return option.choices(choices)
  if (type === 'integer') return option.argParser(wholeNumber(minimum, maximum))
  return type === 'number' ? option.argParser(numberFrom(minimum, maximum)) : option
}

function numberFrom(minimum: number, maximum = Number.MAX_VALUE): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^\d+(\.\d+)?$/.test(text) && value >= minimum && value <= maximum) return value
    throw new InvalidArgumentError(`It must be a number from ${minimum} to ${maximum}.`)
  }
}
