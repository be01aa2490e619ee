import type { JsonObject } from '../../provenance/index.ts'
import { derived, derivedUuid } from './fixtures.ts'

const common = {
  tenant_id: 'demo',
  created_at: '2026-01-02T03:04:05.123456Z',
  created_by: 'hub0000000000000000000001',
  schema_version: '1.0',
}

/** Five records: plain, non-ASCII, deeply mixed numbers, the server's own, and awkward member names. */
export const records: Readonly<Record<string, JsonObject>> = {
  'telemetry event': {
    ...common,
    record_id: derivedUuid('telemetry event'),
    record_type: 'telemetry_event',
    related_records: [],
    skill_id: 'summarise',
    skill_version: '1.2.3',
    archetype_id: 'analyst',
    user_id: 'user:ada@example.com',
    llm_platform: 'claude',
    llm_model: 'claude-sonnet-4',
    ts: '2026-01-02T03:04:04.000001Z',
    success: false,
    latency_ms: 1234,
    tokens_in: 400,
    tokens_out: 120,
    cost_usd_estimate: 0.000001,
    cost_usd_computed: 0.0030000000000000001,
    error_code: null,
  },
  'decision in many scripts': {
    ...common,
    record_id: derivedUuid('decision'),
    record_type: 'decision',
    related_records: [derivedUuid('telemetry event')],
    decision_id: 'D-1',
    decision_subject: 'Überprüfung — проверка — 検証 — 😂 — e\u0301 is not é',
    decision_outcome: 'quote " backslash \\ slash / tab \t newline \n bell \u0007 delete \u007f',
    decision_rationale: 'line separator \u2028 and \u2029, zero width \u200b, right to left \u05e9\u05dc\u05d5\u05dd',
    decision_actor_role: 'admin',
  },
  'output with numbers': {
    ...common,
    record_id: derivedUuid('output'),
    record_type: 'output',
    related_records: [],
    skill_id: 'summarise',
    content: {
      floats: [0.1, -0.1, 1e21, 1e-7, 123456789012345680000, 5e-324, 1.7976931348623157e308, 4.35, -1.5e-10, 1e23],
      integers: [0, -0, 1, -1, 9007199254740991, -9007199254740991, 100000000000000000000],
      nested: [[[[]]], {}, { a: { b: { c: [null, true, false, ''] } } }],
    },
  },
  'governance event': {
    ...common,
    record_id: derivedUuid('governance event'),
    record_type: 'governance_event',
    created_by: 'service:hub',
    related_records: [derivedUuid('output'), derivedUuid('decision')],
    event_kind: 'hub.provisioned',
    details: { before: null, after: { retention_days: 365 } },
  },
  'awkward member names': {
    ...common,
    record_id: derivedUuid('artifact'),
    record_type: 'artifact',
    related_records: [],
    title: 'names',
    content: Object.fromEntries(
      ['', '__proto__', 'constructor', '10', '9', '1', '\u0000', '\ufb33', '😂', '\ud7ff', '\uffff', 'é', 'a"b'].map(
        (name, i) => [name, i],
      ),
    ),
  },
}

/** [big-endian IEEE 754 bits, text]: random doubles, and those around powers of ten, where notations change. */
export function numbers(): [string, string][] {
  const doubles: number[] = []
  for (let i = 0; i < 400; i++) {
    const value = new DataView(Uint8Array.from(derived(`double ${i}`, 8)).buffer).getFloat64(0)
    if (Number.isFinite(value)) doubles.push(value)
  }
  for (let exponent = -30; exponent <= 30; exponent++) {
    for (const digits of ['1', '-9.5', '1.2345678901234567']) doubles.push(Number(`${digits}e${exponent}`))
  }
  return doubles.map((value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleBE(value)
    return [bytes.toString('hex'), String(value)]
  })
}
