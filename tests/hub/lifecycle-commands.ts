import fc from 'fast-check'
import { expect } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import type { RetentionRules } from '../../server/modules/retention/retention-types.ts'
import { timeOfMicros } from '../../server/records/monotonic-timestamp.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import {
  bufferDays,
  type LifecycleModel,
  type ModelFilter,
  type ModelRecord,
  type Subject,
  subjects,
  type Type,
  types,
} from './lifecycle-model.ts'
import { callerOf, type RecordLab } from './record-lab.ts'

/** What may be called, by whom, in whatever order; each compares what comes of it with the model. */

export interface RealHub {
  hub: ReturnType<RecordLab['openProcess']>
  tenant: Tenant
  time: FakeClock
}

type Command = fc.AsyncCommand<LifecycleModel, RealHub>

const dayMicros = 86_400_000_000
const draftFields = {
  decision: {
    decision_id: 'd',
    decision_subject: 's',
    decision_outcome: 'o',
    decision_rationale: 'r',
    decision_actor_role: 'a',
  },
  artifact: { title: 'Contract' },
  governance_event: { event_kind: 'custom.reviewed' },
}

function callerAs({ tenant }: RealHub, subject: Subject): Caller {
  return { ...callerOf(tenant), subject, clientId: subject }
}

async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    if (error instanceof DomainError) return error.slug
    throw error
  }
}

function command(
  name: string,
  run: (model: LifecycleModel, real: RealHub) => Promise<void>,
  check: (model: LifecycleModel) => boolean = () => true,
): Command {
  return {
    check,
    toString: () => name,
    run: async (model, real) => {
      await run(model, real)
      await expectAgreement(model, real)
    },
  }
}

/** Of one of the records that there are by then. */
function ofRecord(
  name: string,
  pick: number,
  run: (record: ModelRecord, model: LifecycleModel, real: RealHub) => Promise<void>,
): Command {
  return command(
    `${name} #${pick}`,
    (model, real) => run(model.records[pick % model.records.length]!, model, real),
    (model) => model.records.length > 0,
  )
}

/** Every record is what the model says, and every one that is there verifies, whatever was called before. */
async function expectAgreement(model: LifecycleModel, real: RealHub): Promise<void> {
  const { hub, tenant } = real
  const query = { include_purged: true, verify: true, limit: 1000 } as const
  const { records, verification_summary } = await hub.reading.query(callerOf(tenant), query)
  expect(verification_summary).toMatchObject({ verified: records.length, checked: records.length })
  const states = new Map(records.map((record) => [record.record_id, record.is_purged]))
  expect(model.records.map((record) => (states.has(record.id) ? states.get(record.id) : 'gone'))).toEqual(
    model.records.map((record) => (model.isGone(record) ? 'gone' : record.purge !== undefined)),
  )
}

const write = (type: Type, writer: Subject) =>
  command(`write ${type} by ${writer}`, async (model, { hub, tenant }) => {
    const [id] = await hub.write(tenant, { recordType: type, fields: draftFields[type], createdBy: writer })
    model.records.push({ id: id!, type, writer, day: model.day, at: model.tick(), isErased: false, releases: [] })
  })

const purge = (pick: number, by: Subject) =>
  ofRecord(`purge by ${by}`, pick, async (record, model, real) => {
    const expected = model.purge(record, by)
    const work = real.hub.purger.purge(callerAs(real, by), record.id, { reason: 'x' })
    expect(await outcome(work)).toBe(expected)
    if (expected !== 'ok') return
    const { hard_delete_after } = (await work).answer
    // While a hold keeps the buffer from ending, as it was when the record was purged.
    const end = 'end' in record.purge! ? record.purge.end : record.purge!.day + bufferDays
    const daysLeft = (Date.parse(hard_delete_after) - real.time.wallMs()) / 86_400_000
    expect(Math.abs(daysLeft - (end - model.day))).toBeLessThan(0.01)
  })

const restore = (pick: number, by: Subject) =>
  ofRecord(`restore by ${by}`, pick, async (record, model, real) => {
    const work = real.hub.purger.restore(callerAs(real, by), record.id, {})
    expect(await outcome(work)).toBe(model.restore(record))
  })

const release = (pick: number, by: Subject, days: number | undefined) =>
  ofRecord(`release by ${by} for ${days ?? 'all'} days`, pick, async (record, model, real) => {
    const { hub } = real
    const until = days === undefined ? {} : { expires_at: timeOfMicros(hub.clock.next().micros + days * dayMicros) }
    const work = hub.releases.create(callerAs(real, by), record.id, { reason: 'x', ...until })
    expect(await outcome(work)).toBe(model.release(record, by, days))
  })

const placeOver = (picks: number[], by: Subject) =>
  command(
    `place over #${picks} by ${by}`,
    async (model, real) => {
      const named = [...new Set(picks.map((pick) => model.records[pick % model.records.length]!))]
      const body = { name: 'Case', reason: 'x', record_ids: named.map((record) => record.id) }
      const work = real.hub.holds.place(callerAs(real, by), body)
      expect(await outcome(work)).toBe(named.some((record) => model.isGone(record)) ? 'validation-failed' : 'ok')
      if (named.some((record) => model.isGone(record))) return
      model.place({ id: (await work).hold_id, covers: (record) => named.includes(record) })
    },
    (model) => model.records.length > 0,
  )

const placeFilter = (filter: ModelFilter, by: Subject) =>
  command(`place over ${JSON.stringify(filter)} by ${by}`, async (model, real) => {
    const { record_type, created_by, isLater } = filter
    const from = isLater ? { created_at__gte: real.hub.clock.next().createdAt } : {}
    const exact = { ...(record_type ? { record_type } : {}), ...(created_by ? { created_by } : {}) }
    const conditions = { ...exact, ...from }
    const scope = Object.keys(conditions).length === 0 ? { all: true } : { filter: conditions }
    const body = { name: 'Case', reason: 'x', ...scope }
    const at = model.tick()
    const { hold_id } = await real.hub.holds.place(callerAs(real, by), body)
    model.place({
      id: hold_id,
      covers: (record) =>
        (record_type === undefined || record_type.includes(record.type)) &&
        (created_by === undefined || created_by === record.writer) &&
        (!isLater || record.at > at),
    })
  })

const releaseHold = (pick: number, by: Subject) =>
  command(
    `release hold #${pick} by ${by}`,
    async (model, real) => {
      const hold = model.holds[pick % model.holds.length]!
      const work = real.hub.holds.release(callerAs(real, by), hold.id, 'x')
      const expected = model.releaseHold(hold, by)
      expect(await outcome(work)).toBe(expected)
      if (expected === 'ok') expect((await work).released_by).toBe(hold.released!.by)
    },
    (model) => model.holds.length > 0,
  )

const setRetention = (retention: RetentionRules) =>
  command(`retention ${JSON.stringify(retention)}`, async (model, { hub, tenant }) => {
    model.retention = await hub.retention.replace(callerOf(tenant), retention)
  })

const erase = () =>
  command('erase', async (model, { hub, tenant }) => {
    expect((await hub.erasure.run(tenant)).erased).toBe(model.erase())
  })

const purgeOverdue = () =>
  command('purge what is overdue', async (model, { hub, tenant }) => {
    expect(await hub.erasure.purgeOverdue(tenant)).toBe(model.purgeOverdue())
  })

const step = (days: number) =>
  command(`step ${days} days`, async (model, { time }) => {
    time.step({ days })
    model.day += days
  })

const pick = fc.nat({ max: 5 })
const subject = fc.constantFrom(...subjects)
const someTypes = fc.subarray([...types], { minLength: 1 })
const filter = fc.record({ record_type: someTypes, created_by: subject, isLater: fc.boolean() }, { requiredKeys: [] })
const rule = fc.tuple(
  fc.constantFrom('decision' as const, 'artifact' as const),
  fc.nat({ max: 20 }),
  fc.nat({ max: 40 }),
)
const retention = fc.record({
  rules: fc
    .uniqueArray(rule, { maxLength: 2, selector: ([type]) => type })
    .map((rules) =>
      rules.map(([record_type, min_days, more]) => ({ record_type, min_days, max_days: min_days + more })),
    ),
  four_eyes: fc.boolean(),
})

/** The clock goes no further than there are partitions for records. */
const daysMax = 12

/** Sequences of calls. Those that matter come often, those that end records seldom. */
export function lifecycleCommands(maxCommands: number): fc.Arbitrary<Iterable<Command>> {
  return fc.commands(
    [
      fc.tuple(fc.constantFrom(...types, 'governance_event' as const), subject).map((drawn) => write(...drawn)),
      fc.tuple(pick, subject).map((drawn) => purge(...drawn)),
      fc.tuple(pick, subject).map((drawn) => purge(...drawn)),
      fc.tuple(pick, subject).map((drawn) => restore(...drawn)),
      fc
        .tuple(pick, subject, fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }))
        .map((drawn) => release(...drawn)),
      fc.tuple(fc.array(pick, { minLength: 1, maxLength: 4 }), subject).map((drawn) => placeOver(...drawn)),
      fc.tuple(filter, subject).map((drawn) => placeFilter(...drawn)),
      fc.tuple(pick, subject).map((drawn) => releaseHold(...drawn)),
      fc.tuple(pick, subject).map((drawn) => releaseHold(...drawn)),
      retention.map(setRetention),
      fc.constant(erase()),
      fc.constant(purgeOverdue()),
      fc.integer({ min: 1, max: daysMax }).map(step),
      fc.constant(step(daysMax)),
    ],
    { maxCommands, size: 'max' },
  )
}
