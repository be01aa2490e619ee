import { Box, Button, List, Text } from '@mantine/core'
import { useNavigate, useRouter, useRouterState } from '@tanstack/react-router'
import type { ObjectEntries } from 'valibot'
import { faultsOf, withoutFaults } from '../components/search-schemas.ts'
import { Notice } from '../ui/notice.tsx'

/** Parameters and characters that are named at most: an address may be long. */
const namedMax = 10
const charactersMax = 60

/** Names the parameters of the address that have no effect on the page, and removes them on request. */
export function AddressNotice() {
  const router = useRouter()
  const navigate = useNavigate()
  const match = useRouterState({ select: ({ matches }) => matches.at(-1) })
  // The root alone matches an address without a page.
  if (!match || match.routeId === '__root__') return null
  const { validateSearch } = router.routesById[match.routeId].options as {
    validateSearch?: { entries: ObjectEntries }
  }
  const entries = validateSearch?.entries
  const { unknown, unusable } = faultsOf(match.search, entries)
  if (unknown.length + unusable.length === 0) return null
  const names = unknown.length > 0 ? unknown : unusable.map(({ name }) => name)
  const dismiss = () =>
    void navigate({
      to: '.',
      search: ((former: object) => withoutFaults(former, entries)) as never,
      replace: true,
      resetScroll: false,
    })
  return (
    <Box mb="md">
      <Notice
        kind="warning"
        title={`${unknown.length > 0 ? 'Unknown' : 'Unusable'} ${names.length === 1 ? 'filter' : 'filters'} in the address: ${listed(names)}`}
        urgent
        actions={
          <Button size="xs" variant="default" onClick={dismiss}>
            Dismiss
          </Button>
        }
      >
        {unusable.length > 0 && (
          <List size="sm">
            {unusable.map(({ name, value, allowed }) => (
              <List.Item key={name} style={{ overflowWrap: 'anywhere' }}>
                {`${name} cannot be “${cut(value)}”. Allowed: ${allowed}.`}
              </List.Item>
            ))}
          </List>
        )}
        <Text size="sm">It has no effect. The page may show more than the link was meant for.</Text>
      </Notice>
    </Box>
  )
}

function listed(names: readonly string[]): string {
  const rest = names.length - namedMax
  return `${names.slice(0, namedMax).map(cut).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

function cut(text: string): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text
}
