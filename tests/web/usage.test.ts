import { expect, test } from 'vitest'
import { isWebPath } from '../../contract/web-paths.ts'
import { destinationAt } from '../../web/app/navigation.ts'
import { usageAddress } from '../../web/components/usage-address.ts'
import { phrasesOf } from '../../web/pages/usage/phrases.ts'

test.each([
  ['skill', 'contract-check', '/usage/skills/contract-check'],
  ['user', 'user:kim@acme.example', '/usage/people/user%3Akim%40acme.example'],
  ['model', 'vendor/model:1', '/usage/models/vendor%2Fmodel%3A1'],
  ['archetype', 'analyst', '/usage/archetypes/analyst'],
] as const)('the page of a %s is one of the UI, whatever its id contains', (group, id, address) => {
  expect(usageAddress(group, id)).toBe(address)
  expect(isWebPath(address)).toBe(true)
  expect(destinationAt(address)?.needs).toEqual(['summarizeTelemetry'])
})

test('an id that would lead elsewhere has no page', () => {
  for (const id of ['', '.', '..']) expect(usageAddress('skill', id)).toBeUndefined()
})

test('names become phrases of a full-text search, each once and without quotation marks of their own', () => {
  expect(phrasesOf(['contract-check', 'Contract check'])).toBe('"contract-check" or "Contract check"')
  expect(phrasesOf(['a"b', 'a b', undefined, ' '])).toBe('"a b"')
  expect(phrasesOf([undefined, ''])).toBeUndefined()
})

test('the query for names stays within the length of a search', () => {
  const query = phrasesOf(['x'.repeat(500), 'y'.repeat(500)])
  expect(query?.length).toBeLessThanOrEqual(512)
  expect((query?.match(/"/g) ?? []).length % 2).toBe(0)
})
