import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PointedError } from '../../contract/domain-error.ts'
import type { JsonValue } from '../../provenance/index.ts'
import { contentErrors, missesTotal, readEvent } from '../../server/modules/telemetry/ingest/event-check.ts'
import type { ValidEvent } from '../../server/modules/telemetry/telemetry-types.ts'
import { event } from './events.ts'

const nowMs = Date.parse('2026-01-05T12:00:00Z')

function faultsOf(input: JsonValue): PointedError[] {
  const reading = readEvent(input, nowMs)
  return Array.isArray(reading) ? reading : []
}

const pointersOf = (input: JsonValue) => faultsOf(input).map((fault) => fault.pointer)

function fieldsOf(input: JsonValue): ValidEvent['fields'] {
  const reading = readEvent(input, nowMs)
  if (Array.isArray(reading)) throw new Error(JSON.stringify(reading))
  return reading.fields
}

describe('what is taken', () => {
  test.each([
    [{ llm_model: undefined }],
    [{ llm_platform: 'custom:a' }],
    [{ llm_platform: `custom:${'x'.repeat(63)}` }],
    [{ skill_version: '1.0.0-rc.1+build.5' }],
    [{ user_id: 'user:00u1a2b3c4' }],
    [{ user_id: `user:${'x'.repeat(254)}` }],
    [{ user_id: 'user:kim@exämple.com' }],
    [{ latency_ms: 1 }],
    [{ latency_ms: 599_999 }],
    [{ latency_ms: 12.0 }],
    [{ tokens_in: 0, tokens_out: 0 }],
    [{ tokens_in: 2 ** 31 - 1, tokens_out: 2 ** 31 - 1 }],
    [{ cost_usd_estimate: 0 }],
    [{ cost_usd_estimate: 1e9 }],
    [{ error_code: null }],
    [{ error_code: 'WARN:slow' }],
    [{ success: false, error_code: 'timeout' }],
    [{ ts: '2026-01-05T12:05:00Z' }],
    [{ ts: '1999-12-31T23:59:59+14:00' }],
    [{ ts: '2016-12-31T23:59:60Z' }],
    [{ related_records: [] }],
    [{ related_records: ['019a2f64-51f0-7c4e-9f3b-0d5a6e1c2b3a'], error_code: null }],
    [{ tokens_total_reported: 1200 }],
    [{ tokens_in: 0, tokens_out: 0, tokens_total_reported: 0 }],
    [{ metadata: {} }],
    [{ metadata: { channel: 'email', tries: 2, urgent: false, reply: null } }],
    [{ metadata: { text: 'x'.repeat(8192 - 11) } }],
    [{ skill_id: 'a'.repeat(128) }],
  ])('%j', (changes) => {
    expect(faultsOf(event(changes))).toEqual([])
  })
})

describe('what is refused, and where', () => {
  test.each<[Record<string, JsonValue | undefined>, string[]]>([
    [{ skill_id: undefined }, ['/skill_id']],
    [{ skill_id: '' }, ['/skill_id']],
    [{ skill_id: 'a'.repeat(129) }, ['/skill_id']],
    [{ skill_id: 'ä' }, ['/skill_id']],
    [{ skill_id: 7 }, ['/skill_id']],
    [{ skill_version: '1.0' }, ['/skill_version']],
    [{ skill_version: '01.0.0' }, ['/skill_version']],
    [{ archetype_id: undefined }, ['/archetype_id']],
    [{ archetype_id: 'a b' }, ['/archetype_id']],
    [{ user_id: 'kim@example.com' }, ['/user_id']],
    [{ user_id: 'user:' }, ['/user_id']],
    [{ user_id: 'user:kim smith' }, ['/user_id']],
    [{ user_id: `user:${'x'.repeat(255)}` }, ['/user_id']],
    [{ llm_platform: 'Claude' }, ['/llm_platform']],
    [{ llm_platform: 'other' }, ['/llm_platform']],
    [{ llm_platform: 'custom:' }, ['/llm_platform']],
    [{ llm_platform: 'custom:-x' }, ['/llm_platform']],
    [{ llm_platform: `custom:${'x'.repeat(64)}` }, ['/llm_platform']],
    [{ llm_model: null }, ['/llm_model']],
    [{ llm_model: 'a model' }, ['/llm_model']],
    [{ ts: undefined }, ['/ts']],
    [{ ts: '2026-01-05 09:30:00Z' }, ['/ts']],
    [{ ts: '2026-01-05T09:30:00' }, ['/ts']],
    [{ ts: '2026-02-30T09:30:00Z' }, ['/ts']],
    [{ related_records: 'x' }, ['/related_records']],
    [{ related_records: ['x'] }, ['/related_records/0']],
    [{ ts: '2026-01-05T12:05:00.001Z' }, ['/ts']],
    [{ ts: 1_767_605_400 }, ['/ts']],
    [{ success: 'true' }, ['/success']],
    [{ success: undefined }, ['/success']],
    [{ latency_ms: 0 }, ['/latency_ms']],
    [{ latency_ms: 600_000 }, ['/latency_ms']],
    [{ latency_ms: 1.5 }, ['/latency_ms']],
    [{ latency_ms: '12' }, ['/latency_ms']],
    [{ tokens_in: -1 }, ['/tokens_in']],
    [{ tokens_in: 2 ** 31 }, ['/tokens_in']],
    [{ tokens_out: 0.5 }, ['/tokens_out']],
    [{ tokens_out: undefined }, ['/tokens_out']],
    [{ cost_usd_estimate: -0.000001 }, ['/cost_usd_estimate']],
    [{ cost_usd_estimate: 1e9 + 1 }, ['/cost_usd_estimate']],
    [{ cost_usd_estimate: '0.1' }, ['/cost_usd_estimate']],
    [{ success: false }, ['/error_code']],
    [{ success: false, error_code: null }, ['/error_code']],
    [{ success: false, error_code: '' }, ['/error_code']],
    [{ error_code: 'not ok' }, ['/error_code']],
    [{ tokens_total_reported: 1300 }, ['/tokens_total_reported']],
    [{ tokens_total_reported: 0 }, ['/tokens_total_reported']],
    [{ tokens_total_reported: -1 }, ['/tokens_total_reported']],
    [{ tokens_total_reported: null }, ['/tokens_total_reported']],
    [{ metadata: [] }, ['/metadata']],
    [{ metadata: null }, ['/metadata']],
    [{ metadata: { a: {}, b: 1, c: [] } }, ['/metadata/a', '/metadata/c']],
    [{ metadata: { text: 'x'.repeat(8192 - 10) } }, ['/metadata']],
    [{ tenant_id: 'acme' }, ['/tenant_id']],
    [{ record_id: 'x', created_by: 'me', cost_usd_computed: 1 }, ['/record_id', '/created_by', '/cost_usd_computed']],
    [{ record_type: 'telemetry_event' }, ['/record_type']],
    [{ 'a/b~c': 1 }, ['/a~1b~0c']],
  ])('%j → %j', (changes, pointers) => {
    expect(pointersOf(event(changes)).sort()).toEqual([...pointers].sort())
  })

  test.each([[null], [[]], ['text'], [12], [true]])('%j is no event', (input) => {
    expect(pointersOf(input)).toEqual([''])
  })

  test('everything at once, each place once', () => {
    const faults = pointersOf(
      event({ latency_ms: 0, success: false, tokens_total_reported: 5, ts: '2027-01-01T00:00:00Z', extra: 1 }),
    )
    expect(faults.sort()).toEqual(['/error_code', '/extra', '/latency_ms', '/tokens_total_reported', '/ts'])
    const missing = pointersOf({})
    expect(missing).toHaveLength(11)
    expect(new Set(missing).size).toBe(11)
  })

  test('no error repeats what was sent', () => {
    const secret = 'content-of-a-customer'
    const faults = faultsOf(
      event({ skill_id: `${secret} `, ts: secret, metadata: { a: [secret] }, llm_platform: secret }),
    )
    expect(faults).toHaveLength(4)
    expect(JSON.stringify(faults)).not.toContain(secret)
  })
})

describe('how it is kept', () => {
  test('time in UTC with six digits, cost with six decimals, what is absent left out', () => {
    expect(
      fieldsOf(event({ ts: '2026-01-05T11:30:00.1234567+02:00', cost_usd_estimate: 0.0000005, error_code: null })),
    ).toEqual(event({ ts: '2026-01-05T09:30:00.123456Z', cost_usd_estimate: 0.000001 }))
  })

  test('the cost is rounded half up at the sixth decimal, as it was written', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999n }), fc.integer({ min: 0, max: 99 }), (micros, rest) => {
        const written = `${micros / 1_000_000n}.${String(micros % 1_000_000n).padStart(6, '0')}${String(rest).padStart(2, '0')}`
        const kept = fieldsOf(event({ cost_usd_estimate: Number(written) })).cost_usd_estimate as number
        expect(BigInt(Math.round(kept * 1e6))).toBe(micros + (rest >= 50 ? 1n : 0n))
      }),
    )
  })
})

describe('the 2 percent rule', () => {
  test.each([
    [98, 100, false],
    [97, 100, true],
    [102, 100, false],
    [103, 100, true],
    [0, 0, false],
    [1, 0, true],
    [49, 50, false],
    [48, 49, true],
    [4_294_967_294, 4_294_967_294, false],
  ])('%i of %i reported: refused %s', (sum, reported, refused) => {
    expect(missesTotal(sum, reported)).toBe(refused)
  })

  test('is exact for all counts', () => {
    const tokens = fc.integer({ min: 0, max: 2 ** 31 - 1 })
    fc.assert(
      fc.property(tokens, tokens, fc.integer({ min: -30, max: 30 }), (tokensIn, tokensOut, nudge) => {
        const sum = BigInt(tokensIn) + BigInt(tokensOut)
        // Around the edge on both sides, where rounding would show.
        for (const edge of [(sum * 100n) / 98n, (sum * 100n) / 102n]) {
          const reported = edge + BigInt(nudge)
          if (reported < 0n) continue
          const distance = sum > reported ? sum - reported : reported - sum
          const refused = distance * 50n > reported
          const pointers = pointersOf(
            event({ tokens_in: tokensIn, tokens_out: tokensOut, tokens_total_reported: Number(reported) }),
          )
          expect(pointers).toEqual(refused ? ['/tokens_total_reported'] : [])
        }
      }),
    )
  })
})

test('in Mode C whatever is not in the envelope is content', () => {
  expect(contentErrors(event())).toEqual([])
  expect(contentErrors(event({ error_code: null }))).toEqual([])
  expect(
    contentErrors(event({ metadata: {}, tokens_total_reported: 1, prompt: 'x', tenant_id: 'c' })).map(
      (error) => error.pointer,
    ),
  ).toEqual(['/metadata', '/tokens_total_reported', '/prompt', '/tenant_id'])
})

describe('what would overwhelm the validator is refused before it', () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `_${index}`)

  test('a version longer than a skill can have', () => {
    const longest = `1.0.0-${'a'.repeat(122)}`
    expect(faultsOf(event({ skill_version: longest }))).toEqual([])
    const tooLong = [{ pointer: '/skill_version', detail: 'must have at most 128 characters' }]
    expect(faultsOf(event({ skill_version: `${longest}a` }))).toEqual(tooLong)
    expect(faultsOf(event({ skill_version: `1.0.0-${'1a.'.repeat(4_000_000)}` }))).toEqual(tooLong)
  })

  test('unknown members by the hundred thousand: the first hundred are named, and nothing else is looked at', () => {
    const wide = { ...Object.fromEntries(names.map((name) => [name, 1])), skill_id: '' }
    expect(pointersOf(wide)).toEqual(names.slice(0, 100).map((name) => `/${name}`))
  })

  test('metadata by the hundred thousand is complained about once', () => {
    const wide = event({ metadata: Object.fromEntries(names.map((name) => [name, []])) })
    expect(faultsOf(wide)).toEqual([{ pointer: '/metadata', detail: 'must be at most 8192 bytes as canonical JSON' }])
  })
})
