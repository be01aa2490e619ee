import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Database } from '../../server/db/database.ts'
import type { Tenant } from '../../server/http/caller.ts'
import { DenialLog } from '../../server/modules/governance/denial-log.ts'
import type { Denial, GovernanceLog } from '../../server/modules/governance/governance-types.ts'
import { quiet } from './auth-lab.ts'

const tenantNamed = (slug: string): Tenant => ({
  slug,
  mode: 'A',
  baseUrl: 'http://x',
  hasOwnAddress: false,
  logName: `log/${slug}`,
})
const acme = tenantNamed('acme')
const denial = (changes: Partial<Denial> = {}): Denial => ({
  kind: 'auth.login_failed',
  subject: 'service_account:sa1',
  reason: 'wrong_secret',
  address: '192.0.2.1',
  requestId: 'r1',
  ...changes,
})

interface Written {
  tenant: string
  subject: string
  details: Record<string, unknown>
}

/** The log alone: what it writes is kept in a list, or fails. */
function openLog(options: { keysMax?: { perTenant: number; all: number }; failing?: boolean } = {}) {
  const written: Written[] = []
  const errors: string[] = []
  const database = { withTenant: (_slug: string, work: (tx: object) => unknown) => work({}) } as unknown as Database
  const governance = {
    async append(_tx: unknown, tenant: Tenant, event: { subject: string; details?: object }) {
      if (options.failing) throw new Error('the database is away')
      written.push({ tenant: tenant.slug, subject: event.subject, details: { ...event.details } })
      return { recordId: 'x' }
    },
  } as GovernanceLog
  const log = { ...quiet, error: (_details: object, message: string) => void errors.push(message) }
  const denials = new DenialLog({ database, governance, log, ...options })
  return { denials, written, errors }
}

const counts = (written: readonly Written[]) => written.map(({ details }) => details.count)

test('the first is written without waiting, those that repeat it once a minute is over', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { denials, written } = openLog()
  const afterMinutes = async (minutes: number) => {
    vi.advanceTimersByTime(minutes * 60_000)
    for (let turns = 0; turns < 10; turns += 1) await turn()
    return counts(written)
  }
  for (let time = 0; time < 4; time += 1) denials.note(acme, denial({ requestId: `r${time}` }))
  expect(await afterMinutes(0)).toEqual([undefined])
  expect(await afterMinutes(0.99)).toEqual([undefined])
  expect(await afterMinutes(0.01)).toEqual([undefined, 3])
  expect(written[0]?.details).toEqual({ reason: 'wrong_secret', address: '192.0.2.1', request_id: 'r0' })
  expect(written[1]?.details).toMatchObject({ address: '192.0.2.1', request_id: 'r3' })
  // What goes on is still added up, and not written at once again.
  denials.note(acme, denial())
  denials.note(acme, denial())
  expect(await afterMinutes(0.5)).toEqual([undefined, 3])
  expect(await afterMinutes(0.5)).toEqual([undefined, 3, 2])
  // After a minute without any, the next one is a first one.
  expect(await afterMinutes(1)).toEqual([undefined, 3, 2])
  denials.note(acme, denial())
  expect(await afterMinutes(0)).toEqual([undefined, 3, 2, undefined])
})

test.each<[string, Partial<Denial>]>([
  ['kind', { kind: 'auth.access_refused' }],
  ['subject', { subject: 'service_account:sa2' }],
  ['reason', { reason: 'disabled' }],
  ['address', { address: '192.0.2.2' }],
])('another %s is another denial', async (_name, changes) => {
  const { denials, written } = openLog()
  denials.note(acme, denial())
  denials.note(acme, denial(changes))
  denials.note(tenantNamed('globex'), denial())
  await denials.settled()
  expect(counts(written)).toEqual([undefined, undefined, undefined])
})

describe('beyond its bounds', () => {
  const flood = (count: number, subject = 'service_account:sa1') =>
    Array.from({ length: count }, (_, index) => denial({ subject, address: `2001:db8::${index.toString(16)}` }))

  test('one entry of the tenant stands for all others, and other tenants have their own room', async () => {
    const { denials, written } = openLog({ keysMax: { perTenant: 5, all: 1000 } })
    for (const each of flood(500)) denials.note(acme, each)
    denials.note(tenantNamed('globex'), denial())
    await denials.settled()
    expect(written.filter(({ tenant }) => tenant === 'globex')).toHaveLength(1)
    const ofAcme = written.filter(({ tenant }) => tenant === 'acme')
    expect(ofAcme).toHaveLength(6)
    expect(ofAcme.at(-1)).toEqual({
      tenant: 'acme',
      subject: 'tenant:acme',
      details: {
        reason: 'others',
        request_id: 'r1',
        count: 495,
        first_at: expect.any(String),
        last_at: expect.any(String),
      },
    })
  })

  test('a hundred a minute is what strangers can make a tenant write', async () => {
    const { denials, written } = openLog()
    for (const each of flood(20_000)) denials.note(acme, each)
    await denials.settled()
    expect(written).toHaveLength(101)
    expect(written.at(-1)?.details.count).toBe(19_900)
  })

  test('all tenants together are bounded too', async () => {
    const { denials, written } = openLog({ keysMax: { perTenant: 100, all: 10 } })
    for (let index = 0; index < 20; index += 1) {
      for (const each of flood(3)) denials.note(tenantNamed(`t${index}`), each)
    }
    await denials.settled()
    expect(written.filter(({ details }) => details.reason !== 'others').length).toBeLessThanOrEqual(10)
    const sum = written.reduce((all, { details }) => all + Number(details.count ?? 1), 0)
    expect(sum).toBe(60)
  })
})

test('what cannot be written is logged, and nobody hears an error', async () => {
  const { denials, errors } = openLog({ failing: true })
  denials.note(acme, denial())
  denials.note(acme, denial())
  await denials.settled()
  expect(errors).toEqual(['a denial could not be written', 'a denial could not be written'])
})

test('a tenant that has to be looked up first is waited for; one that is gone has no log', async () => {
  const { denials, written, errors } = openLog()
  denials.note(Promise.resolve(acme), denial())
  denials.note(Promise.resolve(undefined), denial())
  denials.note(Promise.reject(new Error('the database is away')), denial())
  await denials.settled()
  expect(written.map(({ tenant }) => tenant)).toEqual(['acme'])
  expect(errors).toEqual(['the tenant of a denial could not be found'])
})
