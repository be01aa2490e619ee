import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../provenance/json.ts'
import { createAnthropicSkills } from '../../server/modules/distribution/adapters/anthropic-skills.ts'
import { skillFolderOf } from '../../server/modules/distribution/adapters/skill-files.ts'
import type { Delivery } from '../../server/modules/distribution/distribution-types.ts'
import { runConnectionTest } from '../../server/outbound/connection-test.ts'
import { createOutbound, type Outbound } from '../../server/outbound/outbound.ts'
import { type FakeSkillsApi, startAnthropicSkillsApi } from '../support/anthropic-skills-api.ts'

let api: FakeSkillsApi
let outbound: Outbound
let remembered: JsonValue

beforeAll(() => {
  outbound = createOutbound({ environment: 'development', outboundAllow: ['127.0.0.1'] })
})
afterAll(() => outbound.close())
beforeEach(async () => {
  api = await startAnthropicSkillsApi()
  remembered = null
  return () => api.stop()
})

const skill = (skill_id: string, instructions: string, change: JsonObject = {}): JsonObject => ({
  skill_id,
  skill_version: '1.0.0',
  name: `Skill ${skill_id}`,
  description: 'Does <it>',
  archetype_ids: ['analyst'],
  manifest: { instructions },
  ...change,
})

const deliveryOf = (skills: JsonObject[], change: Partial<Delivery> = {}): Delivery => ({
  tenant: 'acme',
  connectorId: 'con_abcdef',
  publishUrl: api.url,
  credentials: { anthropic_api_key: api.apiKey },
  manifest: { skills },
  text: '',
  etag: '',
  state: remembered,
  signal: AbortSignal.timeout(5000),
  remember: async (state) => {
    remembered = structuredClone(state)
  },
  ...change,
})

async function publish(...skills: JsonObject[]) {
  remembered = await createAnthropicSkills(outbound).publish(deliveryOf(skills))
}

const titles = () => [...api.skills.values()].map(({ display_title }) => display_title).sort()
const texts = (title: string) =>
  [...api.skills.values()]
    .find(({ display_title }) => display_title.includes(title))!
    .versions.map(({ files }) => files)

test('uploads, changes and deletes what the manifest has, and no more', async () => {
  await publish(skill('sum-up', 'Sum it up.'), skill('b', 'B'), skill('c', 'C'))
  expect(titles()).toEqual(['Skill b [acme/abcdef/b]', 'Skill c [acme/abcdef/c]', 'Skill sum-up [acme/abcdef/sum-up]'])
  expect(texts('sum-up')).toEqual([
    { 'sum-up/SKILL.md': '---\nname: sum-up\ndescription: "Does  it "\n---\n\nSum it up.' },
  ])

  api.calls.length = 0
  const notGranted = skill('d', 'D', { archetype_ids: [] })
  await publish(skill('sum-up', 'Sum it up.'), skill('b', 'B'), skill('c', 'C'), notGranted)
  expect(new Set(api.calls)).toEqual(new Set(['GET /v1/skills']))

  await publish(skill('sum-up', 'Shorter.'), skill('b', 'B'))
  expect(titles()).toEqual(['Skill b [acme/abcdef/b]', 'Skill sum-up [acme/abcdef/sum-up]'])
  expect(texts('sum-up').map((files) => files['sum-up/SKILL.md']!.split('\n').at(-1))).toEqual([
    'Sum it up.',
    'Shorter.',
  ])
})

test('leaves skills of others alone, and uploads again what somebody deleted', async () => {
  api.skills.set('skill_own', { id: 'skill_own', display_title: 'Our own', versions: [] })
  await publish(skill('a', 'A'))
  api.skills.delete('skill_1')
  await publish(skill('a', 'A'))
  expect(titles()).toEqual(['Our own', 'Skill a [acme/abcdef/a]'])
  await publish()
  expect(titles()).toEqual(['Our own'])
})

test('goes on where it broke off, and finds what it uploaded although nobody remembers', async () => {
  api.fault = (call) => (call === 'POST /v1/skills' && api.skills.size === 2 ? 529 : undefined)
  const all = ['a', 'b', 'c'].map((id) => skill(id, id))
  await expect(publish(...all)).rejects.toThrow(/failed \(529\)/)
  expect(Object.keys(remembered as JsonObject)).toEqual(['a', 'b'])
  api.fault = () => undefined
  remembered = null
  await publish(...all)
  expect(api.skills.size).toBe(3)
  await publish()
  expect(api.skills.size).toBe(0)
})

test.each([
  [401, /refuses the credentials/],
  [429, /limits the request rate/],
  [500, /failed \(/],
])('says in words what %s means, in a test too', async (status, words) => {
  api.fault = () => status
  await expect(publish(skill('a', 'A'))).rejects.toThrow(words)
  const { steps } = await runConnectionTest(createAnthropicSkills(outbound).test(deliveryOf([])))
  expect(steps.map(({ name, ok }) => [name, ok])).toEqual([
    ['address', true],
    ['credentials', false],
  ])
  expect(steps[1]!.detail).toMatch(words)
})

test('a test with a good key says so, and uploads nothing', async () => {
  const { ok } = await runConnectionTest(createAnthropicSkills(outbound).test(deliveryOf([skill('a', 'A')])))
  expect(ok).toBe(true)
  expect(api.calls).toEqual(['GET /v1/skills'])
})

test('two skills whose names become one are refused before anything is uploaded', async () => {
  await expect(publish(skill('a.b', '1'), skill('a:b', '2'))).rejects.toThrow(/two skills with the name a-b/)
  expect(api.calls).toEqual([])
})

test('folders have what the record has, in safe places', () => {
  const files = {
    'SKILL.md': '---\nname: other\n---\nText',
    'scripts/run.py': 'x',
    '../out': 'x',
    '/etc/x': 'x',
    'a/../../b': 'x',
  }
  const folder = skillFolderOf(skill('Claude.Helper', '', { manifest: { files } }))
  expect(folder).toEqual({
    name: 'x-helper',
    files: [
      { path: 'SKILL.md', text: '---\nname: x-helper\ndescription: "Does  it "\n---\n\nText' },
      { path: 'scripts/run.py', text: 'x' },
    ],
  })
  const { manifest: _, description: __, ...bare } = skill('bare', '')
  expect(skillFolderOf(bare).files).toEqual([
    { path: 'SKILL.md', text: '---\nname: bare\ndescription: "Skill bare"\n---\n\n# Skill bare\n' },
  ])
})
