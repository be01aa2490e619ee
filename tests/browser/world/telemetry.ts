import { must } from '../../api/webhook-cases.ts'
import type { TestHub } from '../../support/hub.ts'
import { errorCodes, people, platforms, skills } from './fixtures.ts'
import { numbersFrom, pick } from './random.ts'

const dayMs = 86_400_000
const batchEvents = 1000
const batchesAtOnce = 2
const days = 30
/** Events of the last hour, at most. */
const lately = 1000

/** Sends events of the last 30 days up to now, the oldest first, the newest of them of this minute. */
export async function sendTelemetry(hub: TestHub, count: number): Promise<void> {
  const nowMs = Date.now()
  const random = numbersFrom(7)
  const ages = Float64Array.from({ length: count }, (_, index) =>
    // Some of the last hour, so that live views have something to show.
    index % 40 === 0 && index < lately * 40 ? random() * 3_600_000 : ageOf(random, nowMs),
  ).sort((one, other) => other - one)
  let sent = 0
  const work = async () => {
    while (sent < count) {
      const batch = ages.subarray(sent, sent + batchEvents)
      const first = sent
      sent += batch.length
      const body = {
        events: Array.from(batch, (ageMs, at) => ({
          ...eventOf(random, nowMs, ageMs),
          ...stepOf(first + at - (count - newestSession.steps)),
        })),
      }
      const answer = await must(hub, 'acme', 'POST', '/api/v1/telemetry/events:batch', { body })
      if (answer.body.failed > 0) throw new Error(answer.text)
    }
  }
  await Promise.all(Array.from({ length: batchesAtOnce }, work))
}

/** The newest events are steps of one session and trace. */
export const newestSession = { id: 'support-chat-8812', traceId: '4bf92f3577b34da6a3ce929d0e0e4736', steps: 12 }

/** The members of the session's steps: the first calls the next three, and those the others. */
function stepOf(step: number) {
  if (step < 0) return {}
  const spanOf = (number: number) => (0xabc0000 + number).toString(16).padStart(16, '0')
  return {
    ...{ session_id: newestSession.id, trace_id: newestSession.traceId, span_id: spanOf(step) },
    ...(step > 0 && { parent_span_id: spanOf(Math.floor((step - 1) / 3)) }),
  }
}

/** Working hours of working days are busier, and later weeks more than earlier ones. */
function ageOf(random: () => number, nowMs: number): number {
  for (;;) {
    const ageMs = random() ** 1.3 * days * dayMs
    const at = new Date(nowMs - ageMs)
    const isWorkday = at.getUTCDay() % 6 !== 0
    const isWorkHour = at.getUTCHours() >= 7 && at.getUTCHours() < 18
    if (random() < (isWorkday ? 1 : 0.25) * (isWorkHour ? 1 : 0.15)) return ageMs
  }
}

function eventOf(random: () => number, nowMs: number, ageMs: number) {
  const used = skills.filter(({ idleDays = 0 }) => ageMs > idleDays * dayMs)
  const skill = pick(used, random())
  const colleagues = people.filter(({ archetypeId }) => archetypeId && skill.archetypes.includes(archetypeId))
  const person = colleagues[Math.floor(random() ** 2 * colleagues.length)]!
  const { llm_platform, llm_model, latencyMs, bills } = pick(platforms, random())
  const tokensIn = Math.round(200 + random() ** 3 * 12_000)
  const tokensOut = Math.round(40 + random() ** 2 * 1800)
  const success = random() >= (ageMs < dayMs ? (skill.failsLately ?? skill.fails) : skill.fails)
  // A tail: one in fifty takes many times as long.
  const tail = random() < 0.02 ? 4 + random() * 8 : 1
  const billed = (tokensIn * bills.in + tokensOut * bills.out) / 1e6
  return {
    ...{ skill_id: skill.skill_id, skill_version: skill.skill_version, archetype_id: person.archetypeId! },
    ...{ user_id: `user:${person.email}`, llm_platform, llm_model },
    ts: new Date(nowMs - ageMs).toISOString(),
    success,
    latency_ms: Math.min(599_000, Math.max(1, Math.round(latencyMs * (0.5 + random()) * tail))),
    tokens_in: tokensIn,
    tokens_out: success ? tokensOut : 0,
    cost_usd_estimate: Number((billed * (0.97 + 0.06 * random())).toFixed(6)),
    ...(success ? {} : { error_code: errorCodes[Math.floor(random() * errorCodes.length)]! }),
  }
}

/** Invocations of this moment, for views that are live. */
export async function sendLately(hub: TestHub, count: number): Promise<void> {
  const random = numbersFrom(Date.now() | 0)
  const nowMs = Date.now()
  const events = Array.from({ length: count }, () => eventOf(random, nowMs, random() * 1000))
  await must(hub, 'acme', 'POST', '/api/v1/telemetry/events:batch', { body: { events } })
}
