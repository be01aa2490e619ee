import { api } from '../../api/api-client.ts'
import { useMe } from '../../api/me.ts'
import { useActorName } from '../../components/actor-name.tsx'

const listedAtMost = 1000
const staleTime = 5 * 60_000

/** Returns the name of a subject, if it has one and the user may see it. */
export function useSubjectName(kind: string, id: string): string | undefined {
  const me = useMe()
  const asked = (of: string, isAllowed: boolean) => ({ enabled: kind === of && isAllowed, staleTime })
  const limit = { params: { query: { limit: listedAtMost } } }
  const actor = useActorName(id)
  const webhooks = api.useQuery('get', '/api/v1/webhooks', limit, asked('webhook', me.may('listWebhooks')))
  const connectors = api.useQuery('get', '/api/v1/llm/connectors', limit, asked('connector', me.may('listConnectors')))
  const holds = api.useQuery('get', '/api/v1/hub/legal-holds', limit, asked('hold', me.may('listHolds')))
  const budgets = api.useQuery('get', '/api/v1/budgets', {}, asked('budget', me.may('listBudgets')))
  if (kind === 'budget') return budgets.data?.items.find(({ budget_id }) => budget_id === id)?.name
  if (kind === 'webhook') return webhooks.data?.items.find(({ webhook_id }) => webhook_id === id)?.description
  if (kind === 'connector') return connectors.data?.items.find((each) => each.connector_id === id)?.display_name
  if (kind === 'hold') return holds.data?.items.find(({ hold_id }) => hold_id === id)?.name
  return kind === 'user' || kind === 'service_account' ? actor : undefined
}
