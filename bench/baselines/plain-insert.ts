// A plain service for the same events, written without a plan for high volume: Fastify with a schema, a connection
// pool, one prepared INSERT per request, which commits by itself. No authentication, tenants, hashes, signatures,
// rollups or idempotency. Its table has the columns and indexes of the Hub's.
import { randomUUIDv7 } from 'node:crypto'
import { text } from 'node:stream/consumers'
import Fastify from 'fastify'
import pg from 'pg'
import { announce } from './announce.ts'

interface Event {
  skill_id: string
  archetype_id: string
  user_id: string
  llm_platform: string
  llm_model?: string
  ts: string
  tokens_in: number
  tokens_out: number
  cost_usd_estimate: number
}

const identifier = { type: 'string', pattern: '^[A-Za-z0-9_.:-]{1,128}$' }
const tokens = { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 }
const eventSchema = {
  type: 'object',
  additionalProperties: false,
  required: [
    ...['skill_id', 'skill_version', 'archetype_id', 'user_id', 'llm_platform', 'ts', 'success', 'latency_ms'],
    ...['tokens_in', 'tokens_out', 'cost_usd_estimate'],
  ],
  properties: {
    skill_id: identifier,
    skill_version: { type: 'string', maxLength: 128 },
    archetype_id: identifier,
    user_id: { type: 'string', pattern: '^user:[^\\s]{1,254}$' },
    llm_platform: { type: 'string', maxLength: 128 },
    llm_model: { type: 'string', maxLength: 128 },
    ts: { type: 'string', format: 'date-time' },
    success: { type: 'boolean' },
    latency_ms: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 600_000 },
    tokens_in: tokens,
    tokens_out: tokens,
    cost_usd_estimate: { type: 'number', minimum: 0, maximum: 1e9 },
    error_code: { anyOf: [identifier, { type: 'null' }] },
  },
}
const responseSchema = { type: 'object', properties: { record_id: { type: 'string' } } }

const { connection, table } = JSON.parse(await text(process.stdin)) as { connection: pg.PoolConfig; table: string }
const pool = new pg.Pool({ ...connection, max: 20 })
const insert = {
  name: 'insert-event',
  text: `insert into ${table} (tenant_id, record_id, record_type, created_by, skill_id, archetype_id, user_id,
           cost_micros, canonical) values ($1, $2, 'telemetry_event', $3, $4, $5, $6, $7, $8)`,
}

const app = Fastify()
app.post<{ Body: Event }>(
  '/events',
  { schema: { body: eventSchema, response: { 201: responseSchema } } },
  async (request, reply) => {
    const event = request.body
    const recordId = randomUUIDv7()
    const costMicros = Math.round(event.cost_usd_estimate * 1e6)
    const record = { ...event, record_id: recordId, created_at: new Date().toISOString() }
    await pool.query({
      ...insert,
      values: [
        ...['bench', recordId, 'plain-service', event.skill_id, event.archetype_id, event.user_id],
        costMicros,
        JSON.stringify(record),
      ],
    })
    reply.code(201)
    return { record_id: recordId }
  },
)
await announce(app)
