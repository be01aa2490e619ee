import { randomUUIDv7 } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { recordsTransaction, type Statement } from '../bench/baselines/statements.ts'
import { AcknowledgedIds } from '../bench/support/acknowledged-ids.ts'
import { median, quantile, spreadOf } from '../bench/support/statistics.ts'

describe('acknowledged ids', () => {
  test('are taken from answers in order, and kept exactly, over more than one chunk', () => {
    const ids = Array.from({ length: 70_000 }, () => randomUUIDv7())
    const acknowledged = new AcknowledgedIds()
    for (let at = 0; at < ids.length; at += 1000) {
      const records = ids.slice(at, at + 1000).map((record_id, index) => ({ index, record_id, provenance_hash: 'x' }))
      expect(acknowledged.addFrom(Buffer.from(JSON.stringify({ accepted: 1000, records })))).toBe(1000)
    }
    expect(acknowledged.count).toBe(ids.length)
    expect(acknowledged.slice(0, ids.length)).toEqual(ids)
    const bytes = Buffer.concat([...acknowledged.buffers()])
    expect(bytes.toString('hex')).toBe(ids.join('').replaceAll('-', ''))
  })

  test('are none in an answer without records', () => {
    expect(new AcknowledgedIds().addFrom(Buffer.from('{"accepted":0,"failed":1,"records":[]}'))).toBe(0)
  })
})

describe('the statements of a page', () => {
  const sent = (session: number, text: string, withPrevious = false): Statement => ({ session, text, withPrevious })
  const select = 'select r.canonical from hub.records r where r.tenant_id = $1'

  test('are those of the transaction that reads records, grouped as they were sent', () => {
    const captured = [
      sent(0, 'begin'),
      sent(1, 'begin read only'),
      sent(1, 'set local enable_sort = off'),
      sent(0, 'select 1'),
      sent(1, select, true),
      sent(1, 'commit'),
      sent(0, 'commit'),
      sent(1, 'begin'),
    ]
    const texts = recordsTransaction(captured).map((group) => group.map(({ text }) => text))
    expect(texts).toEqual([['begin read only'], ['set local enable_sort = off', select], ['commit']])
  })

  test('are refused where none reads records, or there is no transaction around it', () => {
    expect(() => recordsTransaction([sent(0, 'begin'), sent(0, 'commit')])).toThrow('no statement that reads records')
    expect(() => recordsTransaction([sent(0, select)])).toThrow('no transaction')
  })
})

test('quantiles, medians and spreads', () => {
  const values = [5, 1, 4, 2, 3]
  expect([quantile(values, 0), quantile(values, 0.5), quantile(values, 1)]).toEqual([1, 3, 5])
  expect([median(values), median([1, 2, 3, 10])]).toEqual([3, 2.5])
  expect(spreadOf([0.12345, 0.2])).toEqual({ median: 0.162, min: 0.123, max: 0.2, values: [0.123, 0.2] })
})
