import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { compileSchema } from '../../server/http/request-validation.ts'
import {
  attributeNames,
  claudeCodeNames,
  codexNames,
  geminiCliNames,
} from '../../server/modules/otlp/mapping/attribute-names.ts'
import { defaultMapping, OtlpMappingBody } from '../../server/modules/otlp/mapping/mapping-schemas.ts'

const page = readFileSync(new URL('../../docs/opentelemetry.md', import.meta.url), 'utf8')

const codesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)

/** The rows of the tables of attributes, in order. */
function tables(): Record<string, string[]>[] {
  return page
    .split('| Member of the event | Attributes |\n|---|---|\n')
    .slice(1)
    .map((rest) => {
      const rows = rest.slice(0, rest.indexOf('\n\n')).split('\n')
      return Object.fromEntries(
        rows.map((row) => {
          const [, member = '', names = ''] = row.split('|')
          return [codesIn(member)[0], codesIn(names)]
        }),
      )
    })
}

test('the page has the attributes that the mapping reads, in their order', () => {
  expect(tables()).toEqual([attributeNames, claudeCodeNames, geminiCliNames, codexNames])
})

test('its example of a mapping is valid', () => {
  const [, example = ''] = /```json\n([^`]+)```/.exec(page) ?? []
  expect(compileSchema(OtlpMappingBody)({ ...defaultMapping, ...JSON.parse(example) })).toEqual([])
})
