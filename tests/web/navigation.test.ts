import { expect, test } from 'vitest'
import type { OperationId } from '../../contract/operations.ts'
import { mayCall } from '../../contract/permissions.ts'
import { type Role, roles } from '../../contract/roles.ts'
import type { Scope } from '../../contract/scopes.ts'
import { destinationAt, mayOpen, sections, sectionsFor } from '../../web/app/navigation.ts'

function meAs(role: Role) {
  const scopes = new Set<Scope>(roles[role])
  return { scopes, may: (id: OperationId) => mayCall(scopes, id) }
}

const addresses = sections.flatMap(({ to, pages = [] }) => [to, ...pages.map((page) => page.to)])

test.each(['admin', 'auditor', 'analyst', 'member'] as const)(
  'what the navigation does not show to the role %s does not open by its address either',
  (role) => {
    const me = meAs(role)
    const shown = sectionsFor(me).flatMap((section) => section.pages?.map(({ to }) => to) ?? [section.to])
    const opened = addresses.filter((address) => {
      const destination = destinationAt(address)
      return destination && mayOpen(destination, me)
    })
    expect([...new Set(opened)].sort()).toEqual([...new Set(shown)].sort())
  },
)

test('governance does not open where its events are not seen', () => {
  for (const address of ['/governance', '/governance/alarms', '/governance/log']) {
    expect(mayOpen(destinationAt(address)!, meAs('member'))).toBe(false)
    expect(mayOpen(destinationAt(address)!, meAs('auditor'))).toBe(true)
  }
})

test('an address below a page is of that page', () => {
  expect(destinationAt('/records/01a201cd-955f-751a-9aea-8a06be77a20b/graph')?.to).toBe('/records')
  expect(destinationAt('/webhooks/whk_1')?.to).toBe('/webhooks')
  expect(destinationAt('/nowhere')).toBeUndefined()
})
