import * as v from 'valibot'
import { expect, test } from 'vitest'
import { governanceKinds } from '../../contract/governance-kinds.ts'
import type { HubRecord } from '../../web/api/hub-record.ts'
import { hasOnePage } from '../../web/components/cursor-pagination.ts'
import { titleOfEvent } from '../../web/components/event-titles.ts'
import { causeOf } from '../../web/components/record-actor.ts'
import { titleOfRecord } from '../../web/components/record-type.tsx'
import { exportsSearch } from '../../web/pages/exports/exports-search.ts'
import { describeEvent } from '../../web/pages/governance/event-labels.ts'
import { eventsSearch } from '../../web/pages/governance/events-search.ts'
import { type GovernanceEvent, governanceEventOf } from '../../web/pages/governance/governance-event.ts'
import { addressOf, partsOf, shortId } from '../../web/pages/governance/subject-address.ts'

test('a subject is looked at on its page, whatever a client called it', () => {
  expect(addressOf('record', 'a/b')).toBe('/records/a%2Fb')
  expect(addressOf('skill', 'x')).toBe('/usage/skills/x')
  expect(addressOf('budget', 'x')).toBe('/budgets')
  for (const kind of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(addressOf(kind, '1')).toBeUndefined()
  }
})

test('who did something is taken from what the Hub wrote, and from nobody else', () => {
  const actorOf = (created_by: string): GovernanceEvent['actor'] =>
    governanceEventOf({ created_by, details: { actor: 'usr_other' } } as unknown as HubRecord).actor
  expect(actorOf('service:hub')).toBe('usr_other')
  expect(actorOf('sa_writer')).toBe('sa_writer')
  const agentOf = (created_by: string, agent: unknown) =>
    governanceEventOf({ created_by, details: { agent } } as unknown as HubRecord).agent
  expect(agentOf('service:hub', { client_name: 'Agent One', session_id: 'ses_1' })).toBe('Agent One')
  expect(agentOf('sa_writer', { client_name: 'Agent One' })).toBeUndefined()
  for (const other of [undefined, 'Agent One', { client_name: 7 }])
    expect(agentOf('service:hub', other)).toBeUndefined()
})

test('a record shows the person who caused it, and the Hub where none did', () => {
  const event = (actor: unknown, created_by = 'service:hub') => causeOf({ created_by, details: { actor } })
  expect(event('usr_ada')).toBe('usr_ada')
  expect(event('sa_reader')).toBe('sa_reader')
  expect(event('operator:command-line')).toBe('operator:command-line')
  for (const actor of ['service:sweeper', 'service:hub', undefined, 7, {}]) expect(event(actor)).toBe('service:hub')
  expect(event('usr_ada', 'sa_writer')).toBe('sa_writer')
  expect(causeOf({ created_by: 'service:hub' })).toBe('service:hub')
  expect(causeOf({ created_by: 'usr_ada', details: 'by usr_eve' })).toBe('usr_ada')
})

test('unusable values of the address are left out, and named', () => {
  const asked = { created_at__gte: 'abc', created_at__lt: '2026-11-01T00:00:00Z' }
  const left = { created_at__lt: asked.created_at__lt }
  expect(v.parse(eventsSearch, { ...asked, event: 'nonsense' })).toEqual({
    ...left,
    missed: 'created_at__gte=abc&event=nonsense',
  })
  expect(v.parse(exportsSearch, asked)).toEqual({ ...left, missed: 'created_at__gte=abc' })
})

test('lists of many pages are not read anew by themselves', () => {
  expect(hasOnePage({ state: {} })).toBe(true)
  expect(hasOnePage({ state: { data: { pages: [1] } } })).toBe(true)
  expect(hasOnePage({ state: { data: { pages: [1, 2] } } })).toBe(false)
})

const words = (event_kind: string, details: unknown) =>
  describeEvent(governanceEventOf({ event_kind, details, created_by: 'service:hub' } as unknown as HubRecord))

test('every kind that the Hub writes has a title in words of its own; kinds of clients stay as they are', () => {
  const titles = governanceKinds.map(titleOfEvent)
  for (const title of titles) expect(title).toMatch(/^[A-Z][a-z-]+( [a-z]+)+$/)
  expect(new Set(titles).size).toBe(titles.length)
  expect(titleOfRecord({ record_type: 'governance_event', event_kind: 'auth.login' })).toBe('Signed in')
  for (const kind of ['custom.published', 'constructor']) expect(titleOfEvent(kind)).toBe(kind)
})

test('what an event tells is said in words, without ids that prove something and without JSON', () => {
  const after = { description: 'Pager', enabled: false, alerts: [{ above: 0.25 }], url_digest: '0e64ee22a6af1b3a' }
  expect(words('tenant.config_changed', { change: 'webhook_added', before: null, after })).toBe(
    'Webhook added · “Pager”, not enabled, 1 alert',
  )
  expect(
    words('tenant.config_changed', {
      change: 'webhook',
      before: after,
      after: { ...after, enabled: true, alerts: [] },
    }),
  ).toBe('Webhook changed · enabled')
  expect(words('hub.export_created', { format: 'csv', filter: { record_type: ['decision'] }, verify: true })).toBe(
    'CSV · all decisions · verified',
  )
  const pair = (skill_id: string) => ({ archetype_id: 'support', skill_id })
  expect(words('skill.entitlement_changed', { change: 'grants', granted: [pair('a.b'), pair('c.d')] })).toBe(
    'Granted a.b, c.d to support',
  )
  expect(words('roster.scim_sync_completed', { added: 3, updated: 0, deactivated: 1 })).toBe('3 added, 1 deactivated')
  const budget = { name: 'Support', threshold: 80, amount_usd: 39.34, spent_usd: 33.83, basis: 'reported' }
  expect(words('budget.threshold_reached', budget)).toBe('“Support” · 80% of $39.34 reached · spent $33.83')
  const alert = { metric: 'error_rate', group_by: 'skill', key: 'a.b', value: 0.31, threshold: 0.2, window_minutes: 60 }
  expect(words('alert.opened', alert)).toBe('Skill “a.b” · Error rate 31%, above 20% · over 60 minutes')
  expect(words('alert.opened', { ...alert, group_by: 'user', key: undefined })).toBe(
    'Person · Error rate 31%, above 20% · over 60 minutes',
  )
  const cost = { ...alert, metric: 'cost_usd_per_hour', value: 6, threshold: 5 }
  expect(words('alert.opened', cost)).toBe('Skill “a.b” · Cost per hour $6.00, above $5.00 · over 60 minutes')
  expect(words('custom.published', { by: 'legal', at: 'no time', more: { deep: [1, 2] } })).toBe(
    'by legal, at no time, more (deep 1, 2)',
  )
})

test('an event that holds what nobody expects is shown all the same', () => {
  for (const details of [
    null,
    1,
    [],
    { before: 5, after: 'x' },
    { failed_checks: { a: 1 }, filter: { record_type: 7 } },
  ])
    for (const kind of [
      'alert.opened',
      'hub.export_created',
      'hub.tamper_detected',
      'skill.entitlement_changed',
      'constructor',
    ])
      expect(typeof words(kind, details)).toBe('string')
  expect(words('custom.when', { at: '2026-99-99T00:00:00Z' })).toBe('at 2026-99-99T00:00:00Z')
})

test('random ids are shortened, those that people chose are not', () => {
  const shortOf = (subject: string) => shortId(partsOf(subject).id)
  expect(shortOf('webhook:whk_Pkp8R1THPtVpnAtiQuzZoKZc')).toBe('…QuzZoKZc')
  expect(shortOf('record:01a20263-2b0a-7f37-9c2f-5e6ccf767d78')).toBe('…cf767d78')
  for (const chosen of [
    'skill:support.reply-draft-for-the-second-level',
    'archetype:account-executive-of-emea-and-asia',
  ])
    expect(`${partsOf(chosen).kind}:${shortOf(chosen)}`).toBe(chosen)
})
