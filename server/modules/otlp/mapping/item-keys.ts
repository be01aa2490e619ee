import { hash } from 'node:crypto'
import type { OtlpItem, Signal } from '../otlp-types.ts'
import { fixedNames, operations } from './attribute-names.ts'
import { claudeEventOf } from './claude-code.ts'

/**
 * Identifies the items of a request, so that a repeated one is stored once. A key depends neither on the tenant's mapping
 * nor on the skills of sessions, which may change before a request is repeated.
 */
export class ItemKeys {
  readonly #signal: Signal
  readonly #counts = new Map<string, number>()

  constructor(signal: Signal) {
    this.#signal = signal
  }

  /** Returns the key of the next item. Spans with the same ids are one span, but equal log records are several. */
  next(item: OtlpItem): string {
    if (this.#signal === 'traces' || isCallOfSpan(item)) return `span ${item.traceId} ${item.spanId}`
    const key = `log ${item.startNanos} ${contentHash(item)}`
    const count = this.#counts.get(key) ?? 0
    this.#counts.set(key, count + 1)
    return count === 0 ? key : `${key} ${count}`
  }
}

/** Returns whether a log record reports the call that its span reports, too. */
function isCallOfSpan(log: OtlpItem): boolean {
  const hasIds = log.traceId !== undefined && log.spanId !== undefined
  return hasIds && operations.has(log.attributes.get('gen_ai.operation.name')) && claudeEventOf(log) === undefined
}

function contentHash({ name, traceId, spanId, attributes }: OtlpItem): string {
  const members = [name, traceId ?? '', spanId ?? '', attributes.fingerprint(fixedNames)]
  return hash('sha256', JSON.stringify(members), 'base64url')
}
