import { eventFutureMinutesMax } from '../../../../contract/limits.ts'
import { formatTimestamp } from '../../../../contract/timestamp.ts'
import { type Database, readTenant, type TenantTx } from '../../../db/database.ts'
import type { Tenant } from '../../../http/caller.ts'
import { createEventLoopYielder } from '../../../http/event-loop-yielder.ts'
import { recordIdFloor } from '../../../records/record-clock.ts'
import type { FigureAudit, Finding } from '../../integrity-sweep/sweep-types.ts'
import { deltasAfter } from '../summary/summary-store.ts'
import { nextDayWithRows } from './rollup-audit-store.ts'
import { Cells } from './rollup-cells.ts'
import { checkDay, type DayChecked, type DaySums } from './rollup-day-check.ts'
import { readableEntries } from './rollup-delta.ts'
import { Fingerprint } from './rollup-fingerprint.ts'
import { countEvent } from './rollup-rebuild.ts'
import { eventsAfter, type StoredEvent } from './rollup-rebuild-store.ts'
import { dayOfQuarterHour, quarterHourMs, quarterHoursPerDay } from './rollup-types.ts'

const dayMs = quarterHourMs * quarterHoursPerDay
const eventsPerPage = 1000
/** Maximum rows of days that are compared in one snapshot, except for the last day. */
const rowsPerStep = 20_000
/** The cost of a day's statements, in rows. */
const rowsOfDay = 100
/** The cost of a row, in records: it has a sketch too. */
const rowCost = 0.5
/**
 * Milliseconds for which a record's transaction may still run; such records are read with the rows. The recount finds
 * slower ones.
 */
const settledMs = 10_000
const deltasPerRead = 64
const noUuid = '00000000-0000-0000-0000-000000000000'
/** The range of the years that a summary may request. */
const firstDay = dayOfQuarterHour(Date.parse('0001-01-01T00:00:00Z') / quarterHourMs)
const endDay = dayOfQuarterHour(Date.parse('9999-12-31T00:00:00Z') / quarterHourMs) + 1

type Days = Map<number, Fingerprint>

/** Fingerprints of the events and deltas of days, from one day on. */
class Sums {
  readonly days: Days = new Map()
  readonly #isWanted: (day: number) => boolean

  constructor(isWanted: (day: number) => boolean) {
    this.#isWanted = isWanted
  }

  addCells(cells: Cells): void {
    for (const cell of cells.values()) {
      const day = dayOfQuarterHour(cell.firstQuarter)
      if (this.#isWanted(day)) this.days.getOrInsertComputed(day, () => new Fingerprint()).add(cell)
    }
  }

  /** Skips unreadable events, as a rebuild does: the day then differs. */
  addEvents(page: readonly StoredEvent[]): void {
    const cells = new Cells()
    for (const event of page) countEvent(cells, event)
    this.addCells(cells)
  }
}

const inSnapshot = { readOnly: true, snapshot: true, inIndexOrder: true } as const

/**
 * Compares the rollups of a tenant with its records, in short steps. Reads the events from the range's first day on and
 * adds each to the fingerprint of its day. Then it compares day after day, in a snapshot with the events that came
 * since. A late event may belong to any day, so one reading serves all days. Days that differ are counted once more, in
 * one snapshot: an erasure or a repricing between two steps changes earlier data, and must not raise an alert.
 */
export class RollupAudit implements FigureAudit {
  readonly #database: Database
  readonly #slug: string
  readonly #sums: Sums
  readonly #suspects: number[] = []
  #position: string
  #isReading = true
  /** The next day to compare. */
  #next: number

  constructor(database: Database, { slug }: Tenant, range: 'newest' | 'all') {
    const from = range === 'all' ? firstDay : Math.floor(Date.now() / dayMs) - 1
    this.#database = database
    this.#slug = slug
    this.#sums = new Sums((day) => day >= from)
    this.#position = idBefore(from)
    this.#next = from
  }

  async step() {
    if (this.#isReading) return this.#read()
    if (this.#next < endDay) return this.#compareNext()
    const recounted = await this.#database.withTenant(this.#slug, (tx) => recount(tx, this.#suspects), inSnapshot)
    return { ...recounted, isOver: true }
  }

  /** Counts outside of the transaction, which may run twice. */
  async #read() {
    const until = recordIdFloor(Date.now() - settledMs, 0)
    const read = (tx: TenantTx) => eventsAfter(tx, this.#position, eventsPerPage)
    const page = await readTenant(this.#database, this.#slug, read, { inIndexOrder: true })
    const settled = page.filter(({ recordId }) => recordId < until)
    this.#sums.addEvents(settled)
    this.#position = settled.at(-1)?.recordId ?? this.#position
    this.#isReading = settled.length === eventsPerPage
    return { findings: [], cost: 1 + settled.length, isOver: false }
  }

  async #compareNext() {
    const asked = { before: this.#sums.days, after: this.#position, from: this.#next, rowsMax: rowsPerStep }
    const compared = await this.#database.withTenant(this.#slug, (tx) => compare(tx, asked), inSnapshot)
    this.#next = compared.next
    this.#suspects.push(...compared.differing)
    // Reads new events before the next part, so that no snapshot has much to read.
    this.#isReading = this.#next < endDay
    return { ...compared, isOver: this.#next >= endDay && this.#suspects.length === 0 }
  }
}

/** Returns an id before which no event of a day was stored: its `ts` is at most some minutes ahead of its record. */
function idBefore(day: number): string {
  return day === firstDay ? noUuid : recordIdFloor(day * dayMs - eventFutureMinutesMax * 60_000, 0)
}

async function addRest(tx: TenantTx, sums: Sums, after: string): Promise<number> {
  let read = 0
  for (let position = after; ; ) {
    const page = await eventsAfter(tx, position, eventsPerPage)
    sums.addEvents(page)
    read += page.length
    if (page.length < eventsPerPage) return read
    position = page.at(-1)!.recordId
  }
}

async function addUnfolded(tx: TenantTx, sums: Sums): Promise<void> {
  const yieldIfLong = createEventLoopYielder()
  for (let last = noUuid; ; ) {
    const deltas = await deltasAfter(tx, last, deltasPerRead)
    for (const { entries } of deltas) {
      const cells = new Cells()
      for (const { quarter, dimensions, addTo } of readableEntries(entries))
        addTo(cells.metricsOf('all', quarter, dimensions))
      sums.addCells(cells)
      await yieldIfLong()
    }
    if (deltas.length < deltasPerRead) return
    last = deltas.at(-1)!.delta_id
  }
}

/** Reads the events and deltas that the rest of a comparison needs, in its snapshot. */
async function readRest(tx: TenantTx, after: string, isWanted: (day: number) => boolean) {
  const isBlind = tx.contents.erasedBeginnings(tx.tenantId).length > 0
  const since = new Sums(isWanted)
  const waiting = new Sums(isWanted)
  const events = isBlind ? 0 : await addRest(tx, since, after)
  await addUnfolded(tx, waiting)
  return { isBlind, since: since.days, waiting: waiting.days, events }
}

/**
 * Compares days in the snapshot of the transaction, until none remain or enough rows were read.
 *
 * @param before the fingerprints of events up to `after`
 */
async function compare(
  tx: TenantTx,
  { before, after, from, rowsMax }: { before: Days; after: string; from: number; rowsMax: number },
) {
  const { isBlind, since, waiting, events } = await readRest(tx, after, (day) => day >= from)
  const known = [...new Set([...before.keys(), ...since.keys(), ...waiting.keys()])]
  const findings: Finding[] = []
  const differing: number[] = []
  let rows = 0
  for (let day = from; ; day += 1) {
    day = Math.min((await nextDayWithRows(tx, day, endDay)) ?? endDay, ...known.filter((one) => one >= day))
    if (day >= endDay || rows >= rowsMax) return { findings, differing, next: day, cost: 1 + events + rows * rowCost }
    const records = mergedOf(before.get(day), since.get(day))
    const unfolded = mergedOf(waiting.get(day))
    const checked = await checkReadable(tx, day, { records: isBlind ? undefined : records, unfolded })
    rows += checked.rows + rowsOfDay
    if (checked.failedChecks.length > 0) findings.push(findingOf(day, checked))
    if (checked.differs) differing.push(day)
  }
}

/** Counts the days once more in one snapshot, without a time limit: the finding is exact. */
async function recount(tx: TenantTx, suspects: readonly number[]) {
  const first = Math.min(...suspects)
  const { since, waiting, events } = await readRest(tx, idBefore(first), (day) => suspects.includes(day))
  const findings: Finding[] = []
  let rows = 0
  for (const day of suspects) {
    const sums = { records: mergedOf(since.get(day)), unfolded: mergedOf(waiting.get(day)) }
    const checked = await checkReadable(tx, day, sums)
    rows += checked.rows
    const failedChecks: Finding['failedChecks'] = checked.differs
      ? ['figures_match_records', ...checked.failedChecks]
      : checked.failedChecks
    if (failedChecks.length > 0) findings.push(findingOf(day, { ...checked, failedChecks }))
  }
  return { findings, cost: 1 + events + rows * rowCost }
}

function mergedOf(...some: (Fingerprint | undefined)[]): Fingerprint {
  const merged = new Fingerprint()
  for (const one of some) if (one !== undefined) merged.merge(one)
  return merged
}

/** Checks a day. A row that no reader can add up is tampering as well. */
async function checkReadable(tx: TenantTx, day: number, sums: DaySums): Promise<DayChecked> {
  try {
    return await checkDay(tx, day, sums)
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof SyntaxError)) throw error
    return { rows: 1, failedChecks: ['figures_readable'], differs: false, found: {} }
  }
}

function findingOf(day: number, { failedChecks, found }: Pick<DayChecked, 'failedChecks' | 'found'>): Finding {
  return { subject: `figures:${formatTimestamp(day * dayMs).slice(0, 10)}`, failedChecks, found }
}
