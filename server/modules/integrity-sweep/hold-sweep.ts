import { type Database, readTenant, type TenantTx } from '../../db/database.ts'
import type { Tenant } from '../../http/caller.ts'
import type { HoldEvents } from '../legal-holds/holds-types.ts'
import type { RetentionPolicy } from '../retention/retention-types.ts'
import type { VerifiedEvent, VerifiedEvents } from '../verification/verification-types.ts'
import {
  findConfigEvents,
  findDigests,
  findEventIds,
  findHoldEnds,
  findHoldRows,
  findReleaseIds,
  findReleaseRows,
  type StoredHold,
} from './hold-sweep-store.ts'
import { firstId } from './record-scan.ts'
import type { Finding, RoundStep, SweepCheck } from './sweep-types.ts'

/** The progress of a round over holds, releases and rules. */
export type HoldCursor = typeof firstHoldCursor

const fromFirst = firstId as string | undefined

export const firstHoldCursor = {
  /** The ids of the last row or event of each kind; `undefined` if all were checked. */
  ...{ holds: fromFirst, releases: fromFirst, applied: fromFirst, released: fromFirst },
  /** The id from which later rounds continue: replaced rules stay replaced. */
  config: firstId,
  /** Whether any event recorded retention rules, and the events that later ones replaced. */
  hasRulesEvent: false,
  replaced: new Set() as ReadonlySet<string>,
}

/** Maximum rows, and events of each kind, per step. */
const stepRows = 500
/** Maximum records that the holds of one step name. The first hold is exempt. */
const stepRecords = 20_000
const stepConfigEvents = 2_000

interface HoldSweepDeps {
  database: Database
  verifiedEvents: VerifiedEvents
  holdEvents: HoldEvents
  retention: RetentionPolicy
}

/**
 * Compares holds, releases and retention rules with their governance events in both directions: an added or edited row
 * has no matching event, and a deleted row still has its event. Each step reads one snapshot.
 */
export class HoldSweep {
  readonly #deps: HoldSweepDeps

  constructor(deps: HoldSweepDeps) {
    this.#deps = deps
  }

  /** Checks some rows and events of each kind. */
  step(tenant: Tenant, cursor: HoldCursor): Promise<RoundStep<HoldCursor>> {
    return readTenant(this.#deps.database, tenant.slug, (tx) => this.#step(tx, tenant, cursor), {
      snapshot: true,
      inIndexOrder: true,
    })
  }

  async #checkHolds(tx: TenantTx, after: string) {
    const { verifiedEvents, holdEvents } = this.#deps
    const found = await findHoldRows(tx, after, stepRows)
    let records = 0
    const over = found.findIndex(({ record_count }, at) => {
      records += Math.max(0, record_count ?? 0)
      return at > 0 && records > stepRecords
    })
    const holds = over < 0 ? found : found.slice(0, over)
    const naming = holds.filter(({ filter }) => filter === null).map(({ hold_id }) => hold_id)
    const digests = await findDigests(tx, naming)
    const events = await verifiedEvents.find(
      tx,
      holds.flatMap((hold) => [hold.event_id, hold.release_event_id]),
    )
    const findings = holds.flatMap((hold) => checkHold(hold, digests.get(hold.hold_id), events, holdEvents))
    const isLast = over < 0 && found.length < stepRows
    return { rows: holds.length, findings, next: isLast ? undefined : holds.at(-1)!.hold_id }
  }

  async #checkReleases(tx: TenantTx, after: string) {
    const { verifiedEvents, holdEvents } = this.#deps
    const releases = await findReleaseRows(tx, after, stepRows)
    const events = await verifiedEvents.find(
      tx,
      releases.map((release) => release.event_id),
    )
    const findings = releases.flatMap(({ created_at, never_ends, ...release }) => {
      const isOurs = created_at !== null && never_ends === (release.expires_at === null)
      const event = events.get(release.event_id ?? '')
      if (isOurs && holdEvents.matchesPurgeRelease(event, { ...release, created_at })) return []
      const { record_id, release_id, event_id } = release
      return [finding(`record:${record_id}`, ['release_proven'], { release: release_id, event: event_id })]
    })
    return {
      rows: releases.length,
      findings,
      next: releases.length < stepRows ? undefined : releases.at(-1)!.release_id,
    }
  }

  /** Checks that the rows of events exist. The checks of the rows compare their values. */
  async #checkEvents(tx: TenantTx, kind: string, after: string) {
    const ids = await findEventIds(tx, kind, after, stepRows)
    const events = [...(await this.#deps.verifiedEvents.find(tx, ids)).values()].filter((event) => event.kind === kind)
    const holds = await findHoldEnds(tx, events.flatMap(holdOf))
    const releases = await findReleaseIds(tx, events.flatMap(releaseOf))
    const findings = events.flatMap((event) => {
      const found = { event: event.eventId }
      const [holdId] = holdOf(event)
      if (holdId !== undefined) {
        if (!holds.has(holdId)) return [finding(event.subject, ['hold_present'], found)]
        return kind === 'hub.legal_hold_released' && !holds.get(holdId)
          ? [finding(event.subject, ['hold_end_present'], found)]
          : []
      }
      const [releaseId] = releaseOf(event)
      if (releaseId === undefined || releases.has(releaseId)) return []
      return [finding(event.subject, ['release_present'], { ...found, release: releaseId })]
    })
    return { rows: ids.length, findings, next: ids.length < stepRows ? undefined : ids.at(-1) }
  }

  async #checkRules(tx: TenantTx, tenant: Tenant, cursor: HoldCursor) {
    const { verifiedEvents, retention } = this.#deps
    const found = await findConfigEvents(tx, cursor.config, stepConfigEvents)
    const ofRules = found.flatMap(({ record_id, is_of_rules }) => (is_of_rules ? [record_id] : []))
    const events = [...(await verifiedEvents.find(tx, ofRules)).values()].filter(retention.isRulesEvent)
    const replaced = new Set(cursor.replaced)
    for (const { details } of events) if (typeof details.replaces === 'string') replaced.add(details.replaces)
    const next = {
      config: found.at(-1)?.record_id ?? cursor.config,
      hasRulesEvent: cursor.hasRulesEvent || events.length > 0,
      replaced,
    }
    const isUpToDate = found.length < stepConfigEvents
    const findings = isUpToDate && !(await retention.areProven(tx, next)) ? [rulesFinding(tenant)] : []
    return { rows: ofRules.length, findings, isUpToDate, next }
  }

  async #step(tx: TenantTx, tenant: Tenant, cursor: HoldCursor): Promise<RoundStep<HoldCursor>> {
    const none = { rows: 0, findings: [], next: undefined }
    const holds = cursor.holds === undefined ? none : await this.#checkHolds(tx, cursor.holds)
    const releases = cursor.releases === undefined ? none : await this.#checkReleases(tx, cursor.releases)
    const applied =
      cursor.applied === undefined ? none : await this.#checkEvents(tx, 'hub.legal_hold_applied', cursor.applied)
    const released =
      cursor.released === undefined ? none : await this.#checkEvents(tx, 'hub.legal_hold_released', cursor.released)
    const rules = await this.#checkRules(tx, tenant, cursor)
    const parts = [holds, releases, applied, released]
    const isRoundOver = rules.isUpToDate && parts.every(({ next }) => next === undefined)
    return {
      rows: [...parts, rules].reduce((sum, part) => sum + part.rows, 0),
      findings: merged([...parts, rules].flatMap((part) => part.findings)),
      cursor: isRoundOver
        ? { ...firstHoldCursor, ...rules.next }
        : { holds: holds.next, releases: releases.next, applied: applied.next, released: released.next, ...rules.next },
      isRoundOver,
    }
  }
}

function checkHold(
  hold: StoredHold,
  digest: string | undefined,
  events: ReadonlyMap<string, VerifiedEvent>,
  holdEvents: HoldEvents,
): Finding[] {
  const { hold_id, created_at, has_ended, event_id, release_event_id } = hold
  const checks: SweepCheck[] = []
  const begins =
    created_at !== null && holdEvents.matchesHold(events.get(event_id ?? ''), { ...hold, created_at }, digest)
  if (!begins) checks.push('hold_proven')
  if (has_ended && !holdEvents.matchesHoldRelease(events.get(release_event_id ?? ''), hold))
    checks.push('hold_end_proven')
  if (checks.length === 0) return []
  return [finding(`hold:${hold_id}`, checks, { event: event_id, release_event: release_event_id })]
}

function rulesFinding({ slug }: Tenant): Finding {
  return finding(`tenant:${slug}`, ['retention_proven'], { kind: 'tenant.config_changed' })
}

function finding(subject: string, failedChecks: SweepCheck[], found: Finding['found']): Finding {
  return { subject, failedChecks, found }
}

/** Merges findings of one subject into one report. */
function merged(findings: readonly Finding[]): Finding[] {
  return [...Map.groupBy(findings, ({ subject }) => subject)].map(([subject, some]) => ({
    subject,
    failedChecks: [...new Set(some.flatMap(({ failedChecks }) => failedChecks))],
    found: Object.assign({}, ...some.map(({ found }) => found)),
  }))
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function holdOf({ subject }: VerifiedEvent): string[] {
  const id = subject.startsWith('hold:') ? subject.slice('hold:'.length) : ''
  return uuid.test(id) ? [id] : []
}

function releaseOf({ subject, details }: VerifiedEvent): string[] {
  const { release_id: id } = details
  return subject.startsWith('record:') && typeof id === 'string' && uuid.test(id) ? [id] : []
}
