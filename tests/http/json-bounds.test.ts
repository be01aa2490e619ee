import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { DomainError } from '../../contract/domain-error.ts'
import { numberBytesMax } from '../../contract/limits.ts'
import { scanJson } from '../../server/http/body/json-scan.ts'
import { parseStrictJson } from '../../server/http/body/strict-json.ts'
import { runToEnd } from '../../server/http/event-loop-yielder.ts'
import { countedBytes } from './counted-bytes.ts'

describe('bounds', () => {
  const excess = (text: string, bounds: Parameters<typeof parseStrictJson>[1]) => {
    const parse = vi.spyOn(JSON, 'parse')
    try {
      parseStrictJson(Buffer.from(text), bounds)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      expect(parse).not.toHaveBeenCalled()
      return [error.slug, error.errors?.[0]?.pointer]
    } finally {
      parse.mockRestore()
    }
    return undefined
  }
  const tooMany = (pointer: string) => ['payload-too-large', pointer]

  test.each([
    ['numbers', '[1,-2,3.5e1]', 4],
    ['texts', '["a","\\"b\\"","c:d,e"]', 4],
    ['literals', '[true,false,null]', 4],
    ['members, which have a value each', '{"a":1,"b":"x","c":true}', 4],
    ['empty arrays and objects', '[[],{},[ ],{ }]', 5],
    ['nested ones', '{"a":[{"b":[0]}]}', 5],
    ['a number alone', '1', 1],
    ['a text at the end', '["a", "b"]', 3],
  ])('count %s', (_name, text, values) => {
    expect(excess(text, { values })).toBeUndefined()
    expect(excess(text, { values: values - 1 })).toEqual(tooMany(''))
  })

  test('count exactly the values of any text', () => {
    const valuesIn = (value: unknown): number =>
      typeof value !== 'object' || value === null
        ? 1
        : Object.values(value).reduce<number>((sum, each) => sum + valuesIn(each), 1)
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2), (value, indent) => {
        const bytes = Buffer.from(JSON.stringify(value, undefined, indent))
        expect(runToEnd(scanJson(bytes, { depth: 64 })).values).toBe(valuesIn(value))
      }),
      { numRuns: 500, seed: 7 },
    )
  })

  test('hold for one event of a batch', () => {
    const batch = (...events: string[]) => `{"events": [${events.join(', ')}]}`
    const event = (members: number) => `{${Array.from({ length: members }, (_, at) => `"m${at}": ${at}`).join(', ')}}`
    expect(excess(batch(event(9), event(9), event(9)), { eventValues: 10 })).toBeUndefined()
    expect(excess(batch(event(9), event(10), event(0)), { eventValues: 10 })).toEqual(tooMany('/events/1'))
    expect(excess(batch(event(0), event(1), event(10)), { eventValues: 10 })).toEqual(tooMany('/events/2'))
    expect(excess(batch(`[${'"x",'.repeat(9)}"x"]`), { eventValues: 10 })).toEqual(tooMany('/events/0'))
    expect(excess(batch(...Array.from({ length: 100 }, () => '1')), { eventValues: 10 })).toBeUndefined()
    expect(excess(event(100), { eventValues: 10 })).toBeUndefined()
  })

  test('hold for the members of any one object, however deep', () => {
    const object = (members: number) => `{${Array.from({ length: members }, (_, at) => `"m${at}":{"n":0}`).join(',')}}`
    for (const around of ['%', '[%]', '{"a":[{"b":%},1]}', '[{"a":1},%,{"b":2}]']) {
      const text = (members: number) => around.replace('%', object(members))
      expect(excess(text(10), { objectMembers: 10 })).toBeUndefined()
      expect(excess(text(11), { objectMembers: 10 })).toEqual(tooMany(''))
    }
    expect(excess(`[${Array.from({ length: 50 }, () => object(10)).join(',')}]`, { objectMembers: 10 })).toBeUndefined()
  })

  test('hold for the bytes of any member name, escapes included', () => {
    for (const around of ['{%:1}', '{"a":[{"b":{ % : [] }}]}', '[{"a":1},{"b":2,%:"c"}]']) {
      const text = (name: string) => around.replace('%', `"${name}"`)
      expect(excess(text('xxxxxxxxxx'), { nameBytes: 10 })).toBeUndefined()
      expect(excess(text('xxxxxxxxxxx'), { nameBytes: 10 })).toEqual(tooMany(''))
      expect(excess(text('xxxx\\u0041'), { nameBytes: 10 })).toBeUndefined()
      expect(excess(text('xxxxx\\u0041'), { nameBytes: 10 })).toEqual(tooMany(''))
      expect(excess(text('xxxxxéé'), { nameBytes: 8 })).toEqual(tooMany(''))
    }
    expect(excess(`["${'x'.repeat(20)}",{"a":"${'x'.repeat(20)}"}]`, { nameBytes: 10 })).toBeUndefined()
    expect(excess(`{"a":"${'x'.repeat(20)}","b":1}`, { nameBytes: 10 })).toBeUndefined()
  })

  test('hold for any one text', () => {
    for (const around of ['%', '[%]', '{"a":[1,{"b":%}]}', '{%:1}']) {
      const text = (inner: string) => around.replace('%', `"${inner}"`)
      expect(excess(text('xxxxxxxxxx'), { textBytes: 10 })).toBeUndefined()
      expect(excess(text('xxxxxxxx\\n'), { textBytes: 10 })).toBeUndefined()
      expect(excess(text('xxxxxxxxxxx'), { textBytes: 10 })).toEqual(tooMany(''))
      expect(excess(text('xxxxxxxxx\\n'), { textBytes: 10 })).toEqual(tooMany(''))
      expect(excess(text('\\ud83d\\ude00x'), { textBytes: 12 })).toEqual(tooMany(''))
    }
    expect(excess(`[${'"xxxxxxxxxx",'.repeat(50)}0]`, { textBytes: 10 })).toBeUndefined()
  })

  test('hold for any one number', () => {
    for (const around of ['%', '[%]', '{"a":[1,{"b":-%}]}', '[1,% ,2]']) {
      for (const start of ['1', '0.', '1e', '1.5E+']) {
        const text = (length: number) => around.replace('%', start.padEnd(length, '0'))
        expect(excess(text(numberBytesMax + 1), {})).toEqual(tooMany(''))
        expect(
          runToEnd(scanJson(Buffer.from(text(numberBytesMax)), { depth: 64, numberBytes: numberBytesMax })).excess,
        ).toBe(undefined)
      }
    }
  })

  test('end the scan inside a number that passes them', () => {
    const { buffer, reads } = countedBytes(`[${'1'.repeat(100_000)}]`)
    expect(runToEnd(scanJson(buffer, { depth: 64, numberBytes: 100 })).excess).toEqual({ of: 'numberBytes', event: 0 })
    expect(reads()).toBeLessThan(1000)
  })

  test('end the reading of a word that is no value', () => {
    const parse = vi.spyOn(JSON, 'parse')
    expect(() => parseStrictJson(Buffer.from(`[1,${'x'.repeat(5_000_000)}]`))).toThrow(
      'value expected at line 1, column 4',
    )
    expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThan(10_000)
    parse.mockRestore()
  })

  test('end the scan inside a text that passes them', () => {
    const { buffer, reads } = countedBytes(`["${'x'.repeat(100_000)}"]`)
    expect(runToEnd(scanJson(buffer, { depth: 64, textBytes: 100 })).excess).toEqual({ of: 'textBytes', event: 0 })
    expect(reads()).toBeLessThan(1000)
  })

  test('end the scan where they are passed', () => {
    const { buffer, reads } = countedBytes(`[${'[],'.repeat(10_000)}0]`)
    expect(runToEnd(scanJson(buffer, { depth: 64, values: 100 })).excess).toEqual({ of: 'values', event: 0 })
    expect(reads()).toBeLessThan(1000)
  })
})
