import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the types of the API are those of its description', () => {
  const golden = readFileSync(new URL('../golden/openapi.json', import.meta.url), 'utf8')
  const [firstLine] = readFileSync(new URL('../../web/api/openapi.d.ts', import.meta.url), 'utf8').split('\n', 1)
  expect(firstLine, 'they are of another description: run `npm run api-types`').toContain(hash('sha256', golden))
})
