// Measures OTLP traces of 1,000 spans against the JSON batch endpoint with the same events. See ../README.md.
import { randomBytes } from 'node:crypto'
import { type Attributes, span, toProtobuf, traceId, traces } from '../../tests/otlp/otlp-bodies.ts'
import { durability, startBenchHub } from '../support/bench-hub.ts'
import { sendInTurn } from '../support/closed-loop.ts'
import { type CpuShares, cpuShares, cpuTimes } from '../support/cpu-times.ts'
import { outcomeOf, type Run, runFigure } from '../support/figure.ts'
import { startProfile } from '../support/profile.ts'
import { logProgress } from '../support/progress.ts'
import { sampleEvent } from '../support/sample-events.ts'
import { median, rounded, spreadOf } from '../support/statistics.ts'

const eventsPerRequest = 1000
const connections = 4
const templates = 8
/** Bodies of a phase per second: more than any machine takes. */
const bodiesPerSecond = 80
const providers: Readonly<Record<string, string>> = { claude: 'anthropic', chatgpt: 'openai', gemini: 'gcp.gemini' }

type Event = Record<string, unknown>

/** A phase of one kind of request. CPU time is for each event, in microseconds. */
interface Phase {
  rate: number
  cpu: CpuShares
}

function spanOf(event: Event, number: number) {
  const { skill_id, archetype_id, user_id, llm_platform, llm_model, tokens_in, tokens_out, error_code } = event
  const beganNanos = BigInt(Date.parse(String(event.ts))) * 1_000_000n
  const attributes = {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': providers[String(llm_platform)] ?? 'other' },
    ...{ 'gen_ai.request.model': llm_model, 'gen_ai.usage.input_tokens': tokens_in },
    ...{ 'gen_ai.usage.output_tokens': tokens_out, 'user.id': user_id },
    ...{
      'skill.name': skill_id,
      'archetype.id': archetype_id,
      ...(error_code ? { 'error.type': String(error_code) } : {}),
    },
  } as Attributes
  return span(number, attributes, {
    startTimeUnixNano: String(beganNanos),
    endTimeUnixNano: String(beganNanos + BigInt(Number(event.latency_ms)) * 1_000_000n),
    ...(error_code ? { status: { code: 2 } } : {}),
  })
}

/** Returns a function that copies a body with a trace id of its own: a span that was sent before is stored once. */
function renewable(template: Buffer, placeholder: Buffer, render: (id: Buffer) => Buffer): () => Buffer {
  const places: number[] = []
  for (let at = template.indexOf(placeholder); at >= 0; at = template.indexOf(placeholder, at + 1)) places.push(at)
  if (places.length !== eventsPerRequest) throw new Error(`a body names its trace ${places.length} times`)
  return () => {
    const body = Buffer.from(template)
    const id = render(randomBytes(16))
    for (const at of places) id.copy(body, at)
    return body
  }
}

function makeBodies() {
  const nowMs = Date.now()
  return Array.from({ length: templates }, (_, batch) => {
    const events = Array.from({ length: eventsPerRequest }, (_, at) =>
      sampleEvent(batch * eventsPerRequest + at, nowMs - 60_000 + at * 60),
    )
    const spans = events.map((event, at) => spanOf(event, at))
    const json = events.map((event, at) => ({ ...event, trace_id: traceId, span_id: spans[at]?.spanId }))
    return {
      otlp: renewable(Buffer.from(toProtobuf(traces(spans))), Buffer.from(traceId, 'hex'), (id) => id),
      json: renewable(Buffer.from(JSON.stringify({ events: json })), Buffer.from(traceId), (id) =>
        Buffer.from(id.toString('hex')),
      ),
    }
  })
}

async function measure(run: Run) {
  const profile = await startProfile(run)
  const hub = await startBenchHub({ nodeOptions: profile.nodeOptions })
  const settings = await durability(hub.database)
  const tenant = await hub.tenant('bench')
  const bodies = makeBodies()

  async function phaseOf(kind: 'otlp' | 'json', seconds: number): Promise<Phase> {
    const count = Math.ceil(seconds * bodiesPerSecond)
    const before = cpuTimes(hub)
    const load = await sendInTurn(
      Array.from({ length: count }, (_, at) => bodies[at % templates]?.[kind]()),
      {
        url: hub.url,
        path: kind === 'otlp' ? '/api/v1/otlp/v1/traces' : '/api/v1/telemetry/events:batch',
        headers: {
          ...(await tenant.headers()),
          ...(kind === 'otlp' && { 'content-type': 'application/x-protobuf' }),
        },
        ...{ connections, seconds, requestsMax: count, expectedStatus: kind === 'otlp' ? 200 : 201 },
        onAnswer: (answer) => {
          // A partial success is a message; full success has no field.
          if (kind === 'otlp' && answer.length > 0) throw new Error(`spans were rejected: ${answer}`)
        },
      },
    )
    const events = load.answered * eventsPerRequest
    return { rate: events / load.seconds, cpu: cpuShares(before, cpuTimes(hub), events) }
  }

  logProgress(`warming up for ${run.warmUpSeconds} s each`)
  for (const kind of ['otlp', 'json'] as const) await phaseOf(kind, run.warmUpSeconds)
  const phases = { otlp: [] as Phase[], json: [] as Phase[] }
  profile.begin()
  for (let round = 1; round <= run.rounds; round++) {
    // The order alternates: a machine that slows down favours neither.
    for (const kind of round % 2 ? (['otlp', 'json'] as const) : (['json', 'otlp'] as const)) {
      const phase = await phaseOf(kind, run.seconds)
      phases[kind].push(phase)
      logProgress(`round ${round}: ${kind} ${Math.round(phase.rate)} events/s`)
    }
  }
  profile.end()
  await hub.stop()
  await profile.show(hub.pid)
  const ratesOf = (kind: 'otlp' | 'json') => phases[kind].map(({ rate }) => rate)
  const ratios = phases.otlp.map(({ rate }, at) => rate / phases.json[at]!.rate)
  const row = (what: string, kind: 'otlp' | 'json') => ({
    what,
    'per second': Math.round(median(ratesOf(kind))),
    'server µs': rounded(median(phases[kind].map(({ cpu }) => cpu.node))),
    'PostgreSQL µs': rounded(median(phases[kind].map(({ cpu }) => cpu.postgres))),
  })
  return {
    outcomes: [
      outcomeOf(ratios, {
        figure: 'OTLP traces of 1,000 spans (protobuf), events/s',
        reference: 'JSON batch of the same events with their trace and span ids, events/s',
        ...{ unit: '×', bound: 'min', target: 0.7 },
      }),
    ],
    tables: {
      'Ingest, 1,000 events per request, 4 connections': [
        { ...row('OTLP traces, protobuf', 'otlp'), ratio: rounded(median(ratios)) },
        { ...row('JSON batch', 'json'), ratio: 1 },
      ],
    },
    notes: { ...settings, otlp: spreadOf(ratesOf('otlp'), 5), json: spreadOf(ratesOf('json'), 5) },
  }
}

await runFigure({
  ...{ name: 'otlp', title: 'OTLP traces against the JSON batch', seconds: 6, rounds: 5, flags: ['profile'] },
  measure,
})
