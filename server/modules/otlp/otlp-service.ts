import { hash } from 'node:crypto'
import { type Database, readTenant } from '../../db/database.ts'
import type { EventBus } from '../../event-bus.ts'
import type { Caller } from '../../http/caller.ts'
import { createEventLoopYielder } from '../../http/event-loop-yielder.ts'
import type { UserReferences } from '../roster/roster-types.ts'
import type { KeyedIngest } from '../telemetry/telemetry-types.ts'
import { fixedNames, operations } from './mapping/attribute-names.ts'
import { agentReportOf } from './mapping/coding-agents.ts'
import { type MappedEvent, mapItem, sessionOfUnnamedCall } from './mapping/event-mapping.ts'
import type { OtlpMapping } from './mapping/mapping-schemas.ts'
import type { ReadSessionSkills } from './mapping/session-skills.ts'
import type { ExportResult, OtlpItem, Signal } from './otlp-types.ts'
import { type RegisterSkills, registeredSkillsMax } from './skill-registration.ts'

/** Maximum number of events of one transaction: as many as a batch may have. */
const eventsAtOnce = 1000
/** Maximum number of reasons in a response. */
const reasonsMax = 10
const noArchetype = 'has no archetype: set archetype.id, or default_archetype_id of the mapping'
/** Items between two yields. */
const itemsPerTurn = 64

/** Stores the events of spans and log records. */
export interface OtlpIngest {
  /** Returns how many items were rejected, and why. Ignored and repeated items are none of them. */
  export(caller: Caller, signal: Signal, items: readonly OtlpItem[], mapping: OtlpMapping): Promise<ExportResult>
}

export function createOtlpIngest(deps: {
  database: Database
  events: EventBus
  telemetry: KeyedIngest
  references: UserReferences
  registerSkills: RegisterSkills
  readSessionSkills: ReadSessionSkills
}): OtlpIngest {
  const { database, events: bus, telemetry, references, registerSkills, readSessionSkills } = deps

  /** Sets the archetypes that the roster knows, or the default. */
  async function setArchetypes(caller: Caller, events: readonly MappedEvent[], byDefault: string | null) {
    const users = [...new Set(events.flatMap((event) => event.users))]
    if (users.length === 0) return
    const found = await readTenant(database, caller.tenant.slug, (tx) => references.resolveUsers(tx, users))
    for (const { event, users } of events) {
      if (event.archetype_id !== undefined) continue
      const known = users.map((user) => found.get(user)?.archetypeIds ?? []).find((ids) => ids.length > 0)
      const archetype = known?.toSorted()[0] ?? byDefault
      if (archetype !== null) event.archetype_id = archetype
    }
  }

  async function register(caller: Caller, events: readonly MappedEvent[]): Promise<void> {
    const versions = new Map(events.map(({ event }) => [String(event.skill_id), String(event.skill_version)]))
    const unknown = await telemetry.unregisteredSkills(caller.tenant, new Set(versions.keys()))
    if (unknown.length === 0) return
    await registerSkills(
      caller,
      new Map(unknown.slice(0, registeredSkillsMax).map((id) => [id, versions.get(id)!] as const)),
    )
  }

  /** Returns the skills of sessions, read for those whose calls name none themselves. */
  async function skillsOf(caller: Caller, signal: Signal, items: readonly OtlpItem[]) {
    const sessionIds = new Set<string>()
    const yieldIfLong = createEventLoopYielder()
    for (const [index, item] of signal === 'logs' ? items.entries() : []) {
      if (index % itemsPerTurn === 0) await yieldIfLong()
      const sessionId = sessionOfUnnamedCall(item)
      if (sessionId !== undefined) sessionIds.add(sessionId)
    }
    return readSessionSkills(caller.tenant.slug, sessionIds)
  }

  return {
    async export(caller, signal, items, mapping) {
      const reasons = new Reasons()
      const keys = new ItemKeys(signal)
      const events: (MappedEvent & { item: OtlpItem; key: string })[] = []
      const sessions = await skillsOf(caller, signal, items)
      const context = { mapping, signal, withMetadata: caller.tenant.mode !== 'C', sessions }
      let ignored = 0
      const yieldIfLong = createEventLoopYielder()
      for (const [index, item] of items.entries()) {
        if (index % itemsPerTurn === 0) await yieldIfLong()
        const key = keys.next(item)
        const mapped = mapItem(item, context)
        if (mapped === 'ignored') ignored++
        else if ('fault' in mapped) reasons.add(item, () => mapped.fault)
        else events.push({ ...mapped, item, key })
      }
      await setArchetypes(caller, events, mapping.default_archetype_id)
      const complete = events.filter(({ event, item }) => {
        const isComplete = event.archetype_id !== undefined
        if (!isComplete) reasons.add(item, () => noArchetype)
        return isComplete
      })
      if (mapping.unknown_skill === 'register') await register(caller, complete)
      for (let from = 0; from < complete.length; from += eventsAtOnce) {
        const some = complete.slice(from, from + eventsAtOnce)
        const { refused } = await telemetry.ingestKeyed(caller, some)
        for (const [at, { errors }] of refused) {
          reasons.add(some[at]!.item, () => errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; '))
        }
      }
      // Saves last, so that a repetition of a request that failed finds the same skills.
      await sessions.save()
      const result = reasons.result()
      const { rejected } = result
      bus.publish('otlpReceived', { signal, accepted: items.length - rejected - ignored, rejected, ignored })
      return result
    },
  }
}

/** Counts rejected items, and explains the first ones. */
class Reasons {
  #count = 0
  readonly #texts: string[] = []

  add({ spanId, name }: OtlpItem, reason: () => string): void {
    this.#count++
    if (this.#texts.length >= reasonsMax) return
    const subject = spanId === undefined ? `log record ${name.slice(0, 100)}` : `span ${spanId}`
    this.#texts.push(`${subject}: ${reason().slice(0, 500)}`)
  }

  result(): ExportResult {
    const others = this.#count - this.#texts.length
    const more = others > 0 ? ` And ${others} more.` : ''
    return { rejected: this.#count, message: `${this.#texts.join('. ')}${more}` }
  }
}

/**
 * Identifies the items of a request, so that a repeated one is stored once. A key depends neither on the tenant's mapping
 * nor on the skills of sessions, which may change before a request is repeated.
 */
class ItemKeys {
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
  return hasIds && operations.has(log.attributes.get('gen_ai.operation.name')) && agentReportOf(log) === undefined
}

function contentHash({ name, traceId, spanId, attributes }: OtlpItem): string {
  const members = [name, traceId ?? '', spanId ?? '', attributes.fingerprint(fixedNames)]
  return hash('sha256', JSON.stringify(members), 'base64url')
}
