import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import type { Caller, Tenant } from '../../server/http/caller.ts'
import type { Claim } from '../../server/modules/idempotency/idempotency-types.ts'
import type { RecordReceipt } from '../../server/modules/records/records-types.ts'
import { ClaimRejected, type EventWriter, type Submission } from '../../server/modules/telemetry/ingest/event-writer.ts'
import { GroupCommit } from '../../server/modules/telemetry/ingest/group-commit.ts'
import type { ValidEvent } from '../../server/modules/telemetry/telemetry-types.ts'

/** Groups as they come out, before a writer that does what the test says. */

const tenantOf = (slug: string): Tenant => ({
  slug,
  mode: 'A',
  baseUrl: 'http://hub.test',
  hasOwnAddress: false,
  logName: slug,
})
const acme = tenantOf('acme')

function submission(name: string, options: { events?: number; bytes?: number; claims?: boolean } = {}): Submission {
  const { events = 1, bytes = 100, claims = false } = options
  const event = { skillId: name, sizeBytes: bytes } as ValidEvent
  return {
    caller: {} as Caller,
    events: Array.from({ length: events }, () => event),
    claim: claims ? ({ taken: () => new Error(`${name} is taken`) } as Claim) : undefined,
    responsesOf: () => [null],
  }
}

const namesOf = (submissions: readonly Submission[]) => submissions.map(({ events }) => events[0]!.skillId)
const receiptsOf = (submissions: readonly Submission[]): RecordReceipt[][] =>
  submissions.map(({ events }) =>
    events.map((event) => ({ record_id: `of ${event.skillId}`, provenance_hash: '', provenance_cosign: '' })),
  )

/** `rule` throws what the database would; a transaction ends when `finish` is called, or at once. */
function openGroups(
  rule: (names: string[], patient: boolean) => void = () => {},
  options: { held?: boolean; pauseMs?: (tenant: string) => number } = {},
) {
  const slowed: string[] = []
  const transactions: { tenant: string; names: string[]; patient: boolean }[] = []
  const stored: string[] = []
  const held: (() => void)[] = []
  const writer: EventWriter = {
    store: async (tenant, submissions, patient) => {
      const names = namesOf(submissions)
      transactions.push({ tenant: tenant.slug, names, patient })
      if (options.held) await new Promise<void>((finish) => held.push(finish))
      rule(names, patient)
      return receiptsOf(submissions)
    },
    receipts: async () => [],
    missing: async () => new Set(),
  }
  const groups = new GroupCommit(writer, {
    stored: (tenantId) => stored.push(tenantId),
    pauseMs: options.pauseMs ?? (() => 0),
    slowed: (outcome) => slowed.push(outcome),
  })
  const finish = async () => {
    held.shift()!()
    await turn()
    await turn()
  }
  return { groups, transactions, stored, slowed, finish }
}

const outcome = (promise: Promise<unknown>) =>
  promise.then(
    () => 'stored',
    (error: Error) => error.message,
  )

describe('a group', () => {
  test('is what arrived in one turn of the event loop, and answers each its own receipts', async () => {
    const { groups, transactions, stored } = openGroups()
    const answers = await Promise.all(['a', 'b', 'c'].map((name) => groups.store(acme, submission(name))))
    expect(transactions).toEqual([{ tenant: 'acme', names: ['a', 'b', 'c'], patient: false }])
    expect(answers.map(([receipt]) => receipt!.record_id)).toEqual(['of a', 'of b', 'of c'])
    expect(stored).toEqual(['acme'])
  })

  test('of a tenant that is idle waits for nothing', async () => {
    const { groups, transactions } = openGroups(undefined, { held: true })
    void groups.store(acme, submission('alone'))
    await turn()
    expect(transactions).toHaveLength(1)
  })

  test('gathers what arrives while another is being committed', async () => {
    const { groups, transactions, finish } = openGroups(undefined, { held: true })
    for (const name of ['first', 'second', 'third', 'fourth', 'fifth']) {
      void groups.store(acme, submission(name))
      await turn()
    }
    expect(transactions.map(({ names }) => names)).toEqual([['first']])
    await finish()
    expect(transactions.at(-1)!.names).toEqual(['second', 'third', 'fourth', 'fifth'])
  })

  test('of many events does not wait for another, up to four at once', async () => {
    const { groups, transactions } = openGroups(undefined, { held: true })
    for (let at = 0; at < 6; at++) void groups.store(acme, submission(`batch ${at}`, { events: 1000 }))
    await turn()
    expect(transactions).toHaveLength(4)
  })

  test('never spans tenants, and one tenant does not wait for another', async () => {
    const { groups, transactions } = openGroups(undefined, { held: true })
    for (const name of ['a', 'b'])
      for (const slug of ['acme', 'globex']) void groups.store(tenantOf(slug), submission(name))
    await turn()
    expect(transactions.map(({ tenant, names }) => [tenant, ...names])).toEqual([
      ['acme', 'a', 'b'],
      ['globex', 'a', 'b'],
    ])
  })

  test('has at most 1,000 events, or one submission', async () => {
    const { groups, transactions } = openGroups()
    await Promise.all([600, 400, 1, 1000, 2].map((events) => groups.store(acme, submission(`${events}`, { events }))))
    expect(transactions.map(({ names }) => names)).toEqual([['600', '400'], ['1'], ['1000'], ['2']])
  })
})

describe('what one member meets', () => {
  test('a key that is taken: it learns so, and the others are stored without it', async () => {
    const { groups, transactions } = openGroups((names) => {
      const at = names.indexOf('taken')
      if (at >= 0) throw new ClaimRejected(at, false)
    })
    const outcomes = await Promise.all(
      ['a', 'taken', 'b'].map((name) => outcome(groups.store(acme, submission(name, { claims: true })))),
    )
    expect(outcomes).toEqual(['stored', 'taken is taken', 'stored'])
    expect(transactions.map(({ names }) => names)).toEqual([
      ['a', 'taken', 'b'],
      ['a', 'b'],
    ])
  })

  test('a key in flight elsewhere: it waits in a transaction of its own, and the others do not', async () => {
    const { groups, transactions } = openGroups((names, patient) => {
      const at = names.indexOf('busy')
      if (at >= 0 && !patient) throw new ClaimRejected(at, true)
    })
    const outcomes = await Promise.all(
      ['busy', 'a'].map((name) => outcome(groups.store(acme, submission(name, { claims: true })))),
    )
    expect(outcomes).toEqual(['stored', 'stored'])
    expect(transactions).toContainEqual({ tenant: 'acme', names: ['busy'], patient: true })
    expect(transactions).toContainEqual({ tenant: 'acme', names: ['a'], patient: false })
  })

  test('many keys that are taken: after some, those with keys go one by one', async () => {
    const { groups, transactions } = openGroups((names) => {
      const at = names.findIndex((name) => name.startsWith('taken'))
      if (at >= 0) throw new ClaimRejected(at, false)
    })
    const names = [...Array.from({ length: 30 }, (_, at) => `taken ${at}`), 'good']
    const outcomes = await Promise.all([
      ...names.map((name) => outcome(groups.store(acme, submission(name, { claims: true })))),
      outcome(groups.store(acme, submission('keyless'))),
    ])
    expect(outcomes.filter((each) => each === 'stored')).toHaveLength(2)
    expect(transactions.length).toBeLessThan(40)
  })

  test('a fault of its own: halves find it, and all others are stored', async () => {
    const { groups, transactions } = openGroups((names) => {
      if (names.includes('bad')) throw new Error('violates a constraint')
    })
    const names = Array.from({ length: 64 }, (_, at) => (at === 41 ? 'bad' : `good ${at}`))
    const outcomes = await Promise.all(names.map((name) => outcome(groups.store(acme, submission(name)))))
    expect(outcomes.filter((each) => each !== 'stored')).toEqual(['violates a constraint'])
    expect(outcomes[41]).toBe('violates a constraint')
    expect(transactions.length).toBeLessThan(16)
  })

  test('a database that is away: all learn so at once', async () => {
    const away = new DomainError('hub-unavailable', 'away')
    const { groups, transactions } = openGroups(() => {
      throw away
    })
    const outcomes = await Promise.all(['a', 'b'].map((name) => outcome(groups.store(acme, submission(name)))))
    expect(outcomes).toEqual(['away', 'away'])
    expect(transactions).toHaveLength(1)
  })
})

describe('back-pressure', () => {
  const unavailable = expect.objectContaining({ slug: 'hub-unavailable', retryAfterSeconds: 1 })

  test.each([
    ['events', { events: 1000, bytes: 1 }, 50],
    ['bytes', { events: 1, bytes: 1024 * 1024 }, 128],
  ])('by %s: what is more than can wait is refused, and taken again once there is room', async (_, size, fits) => {
    const { groups, finish } = openGroups(undefined, { held: true })
    const stored = Array.from({ length: fits }, (_, at) => groups.store(acme, submission(`${at}`, size)))
    await turn()
    expect(() => groups.store(acme, submission('more', size))).toThrow(unavailable)
    expect(() => groups.store(tenantOf('globex'), submission('more', size))).toThrow(unavailable)
    await finish()
    await stored[0]
    void groups.store(acme, submission('again', size))
  })
})

describe('a tenant whose aggregation is behind', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms)
    await turn()
    await turn()
  }

  test('stores one group after each pause, and the other tenants theirs at once', async () => {
    const { groups, transactions, slowed } = openGroups(undefined, {
      pauseMs: (tenant) => (tenant === 'acme' ? 400 : 0),
    })
    for (let at = 0; at < 4; at++) {
      void groups.store(acme, submission(`batch ${at}`, { events: 1000 }))
      void groups.store(tenantOf('globex'), submission(`batch ${at}`, { events: 1000 }))
    }
    await pass(0)
    expect(transactions.map(({ tenant }) => tenant)).toEqual(['globex', 'globex', 'globex', 'globex'])
    for (let stored = 1; stored <= 4; stored++) {
      await pass(400)
      expect(transactions.filter(({ tenant }) => tenant === 'acme')).toHaveLength(stored)
    }
    expect(slowed).toEqual(['delayed', 'delayed', 'delayed', 'delayed'])
  })

  test('goes on at full rate once aggregation has caught up', async () => {
    let pauseMs = 400
    const { groups, transactions } = openGroups(undefined, { pauseMs: () => pauseMs })
    const stored = Array.from({ length: 4 }, (_, at) => groups.store(acme, submission(`${at}`, { events: 1000 })))
    await pass(400)
    expect(transactions).toHaveLength(1)
    pauseMs = 0
    await pass(400)
    await Promise.all(stored)
    expect(transactions).toHaveLength(4)
  })

  test('waits in proportion to its events, so that single events are not slowed to a group a second', async () => {
    const { groups, transactions } = openGroups(undefined, { pauseMs: () => 1000 })
    void groups.store(acme, submission('some', { events: 100 }))
    await pass(99)
    expect(transactions).toHaveLength(0)
    await pass(1)
    expect(transactions).toHaveLength(1)
  })

  test('pauses after events that joined a group', async () => {
    const { groups, transactions, finish } = openGroups(undefined, { held: true, pauseMs: () => 1000 })
    void groups.store(acme, submission('single'))
    void groups.store(acme, submission('joins', { events: 499 }))
    await pass(1)
    expect(transactions).toHaveLength(1)
    void groups.store(acme, submission('next'))
    await finish()
    await pass(499)
    expect(transactions).toHaveLength(1)
    await pass(1)
    expect(transactions).toHaveLength(2)
    await finish()
  })

  test('waits before each transaction of a key in flight, too', async () => {
    const { groups, transactions } = openGroups(
      (names, patient) => {
        if (names.includes('busy') && !patient) throw new ClaimRejected(0, true)
      },
      { pauseMs: () => 400 },
    )
    const answer = groups.store(acme, submission('busy', { claims: true, events: 1000 }))
    await pass(400)
    expect(transactions.map(({ patient }) => patient)).toEqual([false])
    await pass(400)
    await answer
    expect(transactions.map(({ patient }) => patient)).toEqual([false, true])
  })

  test('is refused more than some thousand waiting events, and says when to try again', async () => {
    const { groups, slowed } = openGroups(undefined, { pauseMs: (tenant) => (tenant === 'acme' ? 1000 : 0) })
    const stored = Array.from({ length: 5 }, (_, at) => groups.store(acme, submission(`${at}`, { events: 1000 })))
    const refusal = expect.objectContaining({ slug: 'hub-unavailable', retryAfterSeconds: 5 })
    expect(() => groups.store(acme, submission('more'))).toThrow(refusal)
    expect(slowed).toContain('refused')
    await groups.store(tenantOf('globex'), submission('other'))
    for (let at = 0; at < 5; at++) await pass(1000)
    await Promise.all(stored)
    void groups.store(acme, submission('again'))
    await pass(1000)
  })
})
