import * as v from 'valibot'
import { expect, test } from 'vitest'
import { hasOnePage } from '../../web/components/by-cursor.ts'
import { exportsSearch } from '../../web/pages/exports/exports-search.ts'
import { eventsSearch } from '../../web/pages/governance/events-search.ts'
import { type GovernanceEvent, governanceEventOf, type HubRecord } from '../../web/pages/governance/governance-event.ts'
import { addressOf } from '../../web/pages/governance/subject-address.ts'

test('a subject is looked at on its page, whatever a client called it', () => {
  expect(addressOf('record', 'a/b')).toBe('/records/a%2Fb')
  expect(addressOf('skill', 'x')).toBe('/onboarding/skills')
  for (const kind of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(addressOf(kind, '1')).toBeUndefined()
  }
})

test('who did something is taken from what the Hub wrote, and from nobody else', () => {
  const actorOf = (created_by: string): GovernanceEvent['actor'] =>
    governanceEventOf({ created_by, details: { actor: 'usr_other' } } as unknown as HubRecord).actor
  expect(actorOf('service:hub')).toBe('usr_other')
  expect(actorOf('sa_writer')).toBe('sa_writer')
})

test('what an address says that is not understood is left out', () => {
  const asked = { created_at__gte: 'abc', created_at__lt: '2026-11-01T00:00:00Z' }
  expect(v.parse(eventsSearch, { ...asked, event: 'nonsense' })).toEqual({ created_at__lt: asked.created_at__lt })
  expect(v.parse(exportsSearch, asked)).toEqual({ created_at__lt: asked.created_at__lt })
})

test('lists of many pages are not read anew by themselves', () => {
  expect(hasOnePage({ state: {} })).toBe(true)
  expect(hasOnePage({ state: { data: { pages: [1] } } })).toBe(true)
  expect(hasOnePage({ state: { data: { pages: [1, 2] } } })).toBe(false)
})
