import { expect, test } from 'vitest'
import { artifacts } from '../../demo/records/artifacts.ts'
import { decisions } from '../../demo/records/decisions.ts'
import { outputs } from '../../demo/records/outputs.ts'
import { demoRecords } from '../../demo/records/records.ts'

const all = [...artifacts, ...outputs].map(({ ref, related = [] }) => ({ ref, related }))
const nodes = [...all, ...decisions.map(({ id, related }) => ({ ref: id, related }))]

test('40 decisions with different subjects and rationales, outputs and artifacts', () => {
  expect(decisions).toHaveLength(40)
  for (const member of ['id', 'subject', 'rationale'] as const) {
    expect(new Set(decisions.map((decision) => decision[member])).size).toBe(40)
  }
  const outcomes = Map.groupBy(decisions, ({ outcome }) => outcome)
  for (const outcome of ['approved', 'approved with conditions', 'rejected', 'deferred']) {
    expect(outcomes.get(outcome)?.length).toBeGreaterThanOrEqual(6)
  }
  expect(new Set(decisions.map(({ role }) => role)).size).toBeGreaterThanOrEqual(12)
  for (const { rationale } of decisions) expect(rationale.match(/[.!?]( |$)/g)!.length).toBeGreaterThanOrEqual(2)
  expect(outputs).toHaveLength(48)
  expect(artifacts).toHaveLength(24)
  expect(new Set(demoRecords.map(({ key }) => key)).size).toBe(demoRecords.length)
})

test('each record names only records before it, and every decision rests on something', () => {
  const met = new Set<string>()
  for (const { ref, related } of nodes) {
    expect(related.filter((other) => !met.has(other))).toEqual([])
    expect(new Set(related).size).toBe(related.length)
    met.add(ref)
  }
  for (const { related } of [...outputs, ...decisions]) expect(related.length).toBeGreaterThan(0)
})

test('nine records are under the hold, and the purged one is neither held nor named by another', () => {
  expect(demoRecords.filter(({ held }) => held)).toHaveLength(9)
  const purged = demoRecords.filter((record) => record.purged)
  expect(purged).toMatchObject([{ held: false }])
  expect(demoRecords.flatMap(({ related }) => related)).not.toContain(purged[0]!.key)
})
