import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { people } from '../../demo/company.ts'
import { type DemoEvent, eventsOf } from '../../demo/events.ts'
import { discount, move } from '../../demo/models.ts'
import { demoDays, periodEnding } from '../../demo/period.ts'
import { failingSkill, quietSkillId, skills, unusedSkillId } from '../../demo/skills.ts'
import { parseTrace } from '../../demo/trace.ts'
import { worseningOf } from '../../web/pages/command-center/trends.ts'

const csv = readFileSync('demo/data/azure-llm-inference-conv-2023.csv', 'utf8')
const trace = parseTrace(csv)
const dayMs = 86_400_000

/** Times at which somebody may load the demo: days, nights, weekends, borders of months, and changes of the clock. */
const loads: [what: string, now: string, timeZone: string][] = [
  ['a weekday at noon', '2026-11-18T11:00:00Z', 'Europe/Berlin'],
  ['Friday evening', '2026-06-26T18:30:00Z', 'Europe/Berlin'],
  ['Saturday just after midnight', '2026-11-20T23:01:00Z', 'Europe/Berlin'],
  ['Sunday at 23:00', '2026-11-22T22:00:00Z', 'Europe/Berlin'],
  ['Monday at midnight', '2026-11-23T00:00:00Z', 'UTC'],
  ['Monday at 06:00', '2026-11-23T05:00:00Z', 'Europe/Berlin'],
  ['Tuesday at 06:00', '2026-11-24T05:00:00Z', 'Europe/Berlin'],
  ['the first of a month', '2026-03-01T00:00:10Z', 'UTC'],
  ['the last of a year', '2026-12-31T23:59:59Z', 'UTC'],
  ['a leap day', '2028-02-29T15:00:00Z', 'Asia/Tokyo'],
  ['the day after the clock went back', '2026-11-02T13:00:00Z', 'America/New_York'],
  ['the day on which the clock went forward', '2026-03-29T10:00:00Z', 'Europe/Berlin'],
  ['a zone that is 45 minutes off', '2026-11-23T02:20:00Z', 'Asia/Kathmandu'],
  ['a zone that changes its clock by half an hour', '2026-10-06T03:10:00Z', 'Australia/Lord_Howe'],
]

const failed = (events: readonly DemoEvent[]) => events.filter(({ success }) => !success)
const share = (events: readonly DemoEvent[]) => failed(events).length / events.length
const counted = (events: readonly DemoEvent[]) => ({ invocations: events.length, failures: failed(events).length })
const costOf = (events: readonly DemoEvent[]) => events.reduce((sum, event) => sum + event.cost_usd_estimate, 0)
const average = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

describe.each(loads)('loaded on %s', (_, now, timeZone) => {
  const period = periodEnding(new Date(now), timeZone)
  const events = eventsOf(trace, period)
  const msOf = (event: DemoEvent) => Date.parse(event.ts)
  const between = (from: number, to: number) => events.filter((event) => msOf(event) >= from && msOf(event) < to)
  const local = new Intl.DateTimeFormat('en-CA', { timeZone, weekday: 'short', hour: '2-digit', hourCycle: 'h23' })
  const partsOf = (ms: number) => Object.fromEntries(local.formatToParts(ms).map(({ type, value }) => [type, value]))
  const isWeekend = (ms: number) => /^S/.test(String(partsOf(ms).weekday))

  /** Events of each whole day of the period, today left out. */
  const byDay = () => {
    const slotDays = new Map(period.slots.map((slot) => [slot.startMs, slot]))
    const dayOf = (event: DemoEvent) => slotDays.get(Math.floor(msOf(event) / 900_000) * 900_000)!
    const groups = Map.groupBy(events, (event) => dayOf(event).day)
    return [...groups]
      .filter(([day]) => day < demoDays - 1)
      .map(([, some]) => ({ startMs: msOf(some[0]!), isWeekend: isWeekend(msOf(some[0]!)), events: some }))
  }

  test('has every row once, in order, with its token counts, within 30 local days', () => {
    const recorded = csv.trim().split('\n').slice(1)
    expect(events).toHaveLength(recorded.length)
    expect(events.map(({ tokens_in, tokens_out }) => `${tokens_in},${tokens_out}`)).toEqual(
      recorded.map((line) => line.trim().split(',').slice(1).join(',')),
    )
    expect(events.map(({ metadata }) => metadata.demo_row)).toEqual(events.map((_event, index) => index))
    // Steps of a trace move ahead, within their quarter of an hour.
    const times = events.filter(({ parent_span_id }) => parent_span_id === undefined).map(({ ts }) => ts)
    expect(times).toEqual(times.toSorted())
    const quarters = events.map((event) => Math.floor(msOf(event) / 900_000))
    expect(quarters).toEqual(quarters.toSorted((a, b) => a - b))
    expect(msOf(events[0]!)).toBeGreaterThanOrEqual(period.startMs)
    expect(msOf(events.at(-1)!)).toBeLessThan(period.endMs)
    expect(partsOf(period.startMs).hour).toBe('00')
    expect(new Set(period.slots.map(({ day }) => day)).size).toBe(demoDays)
  })

  test('is within what the Hub accepts, and the same when it is derived again', () => {
    expect(eventsOf(trace, periodEnding(new Date(now), timeZone))).toEqual(events)
    const emails = new Set(people.map(({ email }) => `user:${email}`))
    for (const event of events) {
      if (event.latency_ms < 1 || event.latency_ms >= 600_000 || !emails.has(event.user_id)) throw new Error(event.ts)
      if (event.success !== (event.error_code === undefined)) throw new Error(event.ts)
    }
  })

  test('each event has a session of one person, and some sessions have traces with a tree of spans', () => {
    const sessions = Map.groupBy(events, ({ session_id }) => session_id)
    expect(sessions.has(undefined)).toBe(false)
    for (const session of sessions.values()) expect(new Set(session.map(({ user_id }) => user_id)).size).toBe(1)
    expect([...sessions.values()].filter((session) => session.length > 3).length).toBeGreaterThan(500)

    const traced = events.filter(({ trace_id }) => trace_id !== undefined)
    const traces = Map.groupBy(traced, ({ trace_id }) => trace_id!)
    expect(traces.size).toBeGreaterThan(100)
    expect(new Set(traced.map(({ span_id }) => span_id)).size).toBe(traced.length)
    for (const [id, steps] of traces) {
      const [root, ...others] = steps
      const earlier = new Set([root!.span_id])
      const isTree = others.every(({ parent_span_id, span_id }) => {
        const isBelow = earlier.has(parent_span_id)
        earlier.add(span_id)
        return isBelow
      })
      const isOneSession = new Set(steps.map(({ session_id }) => session_id)).size === 1
      const isInOrder = others.every((step, index) => step.ts > steps[index]!.ts)
      const hasIds = /^[0-9a-f]{32}$/.test(id) && steps.every(({ span_id }) => /^[0-9a-f]{16}$/.test(span_id!))
      if (!(isTree && isOneSession && isInOrder && hasIds && root!.parent_span_id === undefined)) throw new Error(id)
    }
    const depthOf = (steps: DemoEvent[]) =>
      steps.some(({ parent_span_id }) => parent_span_id !== steps[0]!.span_id && parent_span_id)
    expect([...traces.values()].some(depthOf)).toBe(true)
  })

  test('has working hours, a dip at lunch, quieter weekends with support alone, and growth', () => {
    const hour = (some: readonly DemoEvent[], wanted: string) =>
      some.filter((event) => partsOf(msOf(event)).hour === wanted).length
    const weekdays = events.filter((event) => !isWeekend(msOf(event)))
    expect(hour(weekdays, '12')).toBeLessThan(0.7 * hour(weekdays, '10'))
    expect(hour(weekdays, '03')).toBeLessThan(0.05 * hour(weekdays, '10'))
    const days = byDay()
    const [off, on] = [days.filter((day) => day.isWeekend), days.filter((day) => !day.isWeekend)]
    const ratio = average(off.map((day) => day.events.length)) / average(on.map((day) => day.events.length))
    expect(ratio).toBeGreaterThan(0.15)
    expect(ratio).toBeLessThan(0.5)
    const archetypes = new Set(off.flatMap((day) => day.events.map(({ archetype_id }) => archetype_id)))
    expect([...archetypes].sort()).toEqual(['software-engineer', 'support-agent'])
    expect(on.at(-1)!.events.length).toBeGreaterThan(1.2 * on[0]!.events.length)
  })

  test('a skill fails since yesterday with two codes, and is slower', () => {
    const own = events.filter(({ skill_id }) => skill_id === failingSkill.id)
    const since = own.filter((event) => msOf(event) >= period.failingMs)
    const before = own.filter((event) => msOf(event) < period.failingMs)
    expect(since.length).toBeGreaterThan(60)
    expect(share(since)).toBeGreaterThan(0.25)
    expect(share(since)).toBeLessThan(0.35)
    expect(share(before)).toBeGreaterThan(0)
    expect(share(before)).toBeLessThan(0.025)
    expect(new Set(failed(since).map(({ error_code }) => error_code))).toEqual(new Set(failingSkill.errorCodes))
    const median = (some: DemoEvent[]) => some.map((one) => one.latency_ms).toSorted((a, b) => a - b)[some.length >> 1]!
    expect(median(since)).toBeGreaterThan(1.5 * median(before))
    expect(new Set(since.map(({ skill_version }) => skill_version))).toEqual(new Set(['3.0.0']))
    expect(new Set(before.map(({ skill_version }) => skill_version))).toEqual(new Set([failingSkill.formerVersion]))
  })

  test('the command center names that skill, and no other, as failing: over 30 days and over 7', () => {
    for (const days of [demoDays, 7]) {
      const from = period.slots.find(({ day }) => day === demoDays - days)!.startMs
      const now = between(from, period.endMs)
      const earlier = days === demoDays ? [] : between(from - days * dayMs, period.endMs - days * dayMs)
      const worse = skills.filter(({ id }) => {
        const [present, past] = [now, earlier].map((some) => some.filter(({ skill_id }) => skill_id === id))
        return worseningOf(counted(present!), past!.length > 0 ? counted(past!) : undefined) !== undefined
      })
      expect(worse.map(({ id }) => id)).toContain(failingSkill.id)
      if (days === demoDays) expect(worse).toHaveLength(1)
    }
  })

  test('one skill is never used, one no more since two weeks, and all others in the last seven days', () => {
    const from = period.slots.find(({ day }) => day === demoDays - 7)!.startMs
    const lately = new Set(between(from, period.endMs).map(({ skill_id }) => skill_id))
    const unused = skills.filter(({ id }) => !lately.has(id)).map(({ id }) => id)
    expect(unused.sort()).toEqual([unusedSkillId, quietSkillId].sort())
    const ever = new Set(events.map(({ skill_id }) => skill_id))
    expect([ever.has(unusedSkillId), ever.has(quietSkillId)]).toEqual([false, true])
  })

  test('the discounted model is much used on both sides of its day, ten days ago', () => {
    const own = (some: DemoEvent[]) => some.filter(({ llm_model }) => llm_model === discount.model.model)
    const [before, since] = [between(period.startMs, period.priceMs), between(period.priceMs, period.endMs)]
    expect(costOf(own(before)) / costOf(before)).toBeGreaterThan(0.4)
    expect(own(since).length / since.length).toBeGreaterThan(0.3)
    expect(Math.round((period.endMs - period.priceMs) / dayMs)).toBeGreaterThanOrEqual(10)
  })

  test('spend jumps by the move of one archetype alone, six days ago', () => {
    const weekdays = byDay().filter((day) => !day.isWeekend)
    const daily = (some: typeof weekdays, archetype?: (id: string) => boolean) =>
      average(some.map((day) => costOf(day.events.filter((event) => archetype?.(event.archetype_id) ?? true))))
    const since = weekdays.filter((day) => day.startMs >= period.moveMs)
    const before = weekdays.filter((day) => day.startMs < period.moveMs && day.startMs >= period.moveMs - 14 * dayMs)
    expect(since.length).toBeGreaterThanOrEqual(3)
    expect(daily(since) / daily(before)).toBeGreaterThan(1.4)
    const byMover = daily(since, (id) => id === move.archetypeId) - daily(before, (id) => id === move.archetypeId)
    expect(byMover / (daily(since) - daily(before))).toBeGreaterThan(0.8)
    const moved = events.filter(({ llm_model }) => llm_model === move.to.model)
    expect(new Set(moved.map(({ archetype_id }) => archetype_id))).toEqual(new Set([move.archetypeId]))
    expect(moved.every((event) => msOf(event) >= period.moveMs)).toBe(true)
  })

  test('one or two percent of the other invocations fail, with three codes, and few have no price', () => {
    const others = events.filter(({ skill_id }) => skill_id !== failingSkill.id)
    expect(share(others)).toBeGreaterThan(0.01)
    expect(share(others)).toBeLessThan(0.02)
    expect(new Set(failed(others).map(({ error_code }) => error_code)).size).toBe(3)
    const unpriced = events.filter(({ llm_platform }) => llm_platform.startsWith('custom:')).length / events.length
    expect(unpriced).toBeGreaterThan(0.01)
    expect(unpriced).toBeLessThan(0.05)
  })
})
