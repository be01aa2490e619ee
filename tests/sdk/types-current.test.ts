import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sdkSubset } from '../../sdk/typescript/openapi-subset.ts'

test('the types of the SDK are those of the golden OpenAPI document', () => {
  const golden = JSON.parse(readFileSync(new URL('../golden/openapi.json', import.meta.url), 'utf8'))
  const [firstLine] = readFileSync(new URL('../../sdk/typescript/src/openapi.ts', import.meta.url), 'utf8').split(
    '\n',
    1,
  )
  const digest = hash('sha256', JSON.stringify(sdkSubset(golden)))
  expect(firstLine, 'they are of another description: run `npm run api-types`').toContain(digest)
})
