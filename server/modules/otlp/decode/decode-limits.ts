import { DomainError } from '../../../../contract/domain-error.ts'
import { bodyBounds } from '../../../../contract/limits.ts'

/** Maximum number of spans or log records of a request: a Collector sends 8,192 at most by default. */
export const itemsMax = 10_000
/** Maximum number of resources and scopes of a request: each item may have a resource and a scope of its own. */
const groupsMax = 2 * itemsMax
/** Maximum number of attributes of a span, log record or resource: SDKs record at most 128 by default. */
export const attributesMax = 1000
/** Maximum number of characters of a value that is read. No member of an event is longer. */
export const textLengthMax = 1024

/** Fields that are decoded between two turns of other work. */
const fieldsPerTurn = 4096

/** Counts the fields of a message against the bound of a body, before they are decoded. */
export class FieldBudget {
  #left: number = bodyBounds.otlp.values
  #isTurnDue = false

  /** Throws `payload-too-large` for too many fields. */
  take(): void {
    this.#left--
    if (this.#left < 0) {
      throw new DomainError('payload-too-large', `The body has more than ${bodyBounds.otlp.values} fields.`)
    }
    if (this.#left % fieldsPerTurn === 0) this.#isTurnDue = true
  }

  /** Returns whether it is time to yield to other work, which the caller then does. */
  takeTurn(): boolean {
    const isDue = this.#isTurnDue
    this.#isTurnDue = false
    return isDue
  }
}

/** Counts the resources and scopes of a request. */
export class GroupBudget {
  #left = groupsMax

  /** Throws `payload-too-large` for too many resources and scopes. */
  take(): void {
    this.#left--
    if (this.#left < 0) {
      throw new DomainError('payload-too-large', `A request has at most ${groupsMax} resources and scopes.`)
    }
  }
}

export function tooManyItems(): DomainError {
  return new DomainError(
    'payload-too-large',
    `A request has at most ${itemsMax} spans or log records. Send smaller batches.`,
  )
}

export function tooManyOfGroup(): DomainError {
  return new DomainError('payload-too-large', `A resource or scope has at most ${attributesMax} attributes.`)
}

export const tooManyAttributes = `has more than ${attributesMax} attributes`

/** Returns the text without NUL, which no stored text can have, and without its excess. */
export function storableText(text: string): string {
  const cut = text.length > textLengthMax ? text.slice(0, textLengthMax) : text
  return (cut.includes('\0') ? cut.replaceAll('\0', '') : cut).toWellFormed()
}
