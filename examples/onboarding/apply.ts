/**
 * Brings a tenant to the state that a file declares:
 *
 *     npx node examples/onboarding/apply.ts examples/onboarding/tenant.json            # shows the plan
 *     npx node examples/onboarding/apply.ts examples/onboarding/tenant.json --apply
 *
 * Reads HUB_URL, HUB_TENANT, HUB_CLIENT_ID and HUB_CLIENT_SECRET. A second run changes nothing. It adds and updates, and
 * deletes nothing except archetypes and prices, whose lists the file declares as a whole.
 */
import { readFile } from 'node:fs/promises'
import { isDeepStrictEqual } from 'node:util'
// In a project of your own: '@org-memory-hub/sdk'.
import { HubClient } from '../../sdk/typescript/src/index.ts'

type Item = Record<string, unknown>
interface Tenant {
  archetypes: Item[]
  skills: Item[]
  prices: Item[]
  budgets: Item[]
  service_accounts: Item[]
}
interface Change {
  text: string
  apply: () => Promise<unknown>
}

const setting = (name: string) => process.env[name] || fail(`Set ${name}.`)
const [file = fail('Name the file with the tenant.'), flag] = process.argv.slice(2)
if (flag !== undefined && flag !== '--apply') fail(`Unknown option ${flag}. There is --apply only.`)

const hub = new HubClient({
  baseUrl: setting('HUB_URL'),
  tenant: setting('HUB_TENANT'),
  clientId: setting('HUB_CLIENT_ID'),
  clientSecret: setting('HUB_CLIENT_SECRET'),
})
const wanted: Tenant = JSON.parse(await readFile(file, 'utf8'))
const changes = [
  ...(await archetypeChanges()),
  ...(await skillChanges()),
  ...(await priceChanges()),
  ...(await budgetChanges()),
  ...(await accountChanges()),
]
for (const { text, apply } of changes) {
  console.log(text)
  if (flag === '--apply') await apply()
}
if (changes.length === 0) console.log('No changes. The tenant is as declared.')
else console.log(flag === '--apply' ? `${changes.length} changes applied.` : 'Nothing is changed yet. Add --apply.')

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

/** Reads all pages of a list. */
async function all(path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor: string | undefined; ; ) {
    const page = await hub.get<{ items: Item[]; next_cursor: string | null }>(path, { cursor })
    items.push(...page.items)
    if (page.next_cursor === null) return items
    cursor = page.next_cursor
  }
}

/** Returns true if an item has each declared member. The Hub adds members of its own. */
function has(found: Item, declared: Item): boolean {
  return Object.keys(declared).every((key) => isDeepStrictEqual(found[key], declared[key]))
}

function inOrder(items: Item[]): Item[] {
  return items.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
}

async function archetypeChanges(): Promise<Change[]> {
  const found = await all('/api/v1/roster/archetypes')
  if (isDeepStrictEqual(inOrder(found), inOrder(wanted.archetypes))) return []
  const ids = wanted.archetypes.map(({ archetype_id }) => archetype_id).join(', ')
  return [
    {
      text: `~ archetypes: ${ids}`,
      apply: () => hub.put('/api/v1/roster/archetypes', { archetypes: wanted.archetypes }),
    },
  ]
}

async function skillChanges(): Promise<Change[]> {
  const found = hub.records.list({ record_type: 'skill_definition' })
  const known = new Set<string>()
  for await (const { skill_id, skill_version } of found as AsyncIterable<Item>)
    known.add(`${skill_id} ${skill_version}`)
  return wanted.skills
    .filter(({ skill_id, skill_version }) => !known.has(`${skill_id} ${skill_version}`))
    .map((skill) => ({
      text: `+ skill ${skill.skill_id} ${skill.skill_version}`,
      apply: () => hub.post('/api/v1/hub/records', { body: { record_type: 'skill_definition', ...skill } }),
    }))
}

async function priceChanges(): Promise<Change[]> {
  const { prices } = await hub.get<{ prices: Item[] }>('/api/v1/telemetry/prices')
  const isSame =
    prices.length === wanted.prices.length && wanted.prices.every((price) => prices.some((one) => has(one, price)))
  if (isSame) return []
  return [
    {
      text: `~ prices: ${wanted.prices.map(({ llm_model }) => llm_model).join(', ')}`,
      apply: () => hub.put('/api/v1/telemetry/prices', { prices: wanted.prices }),
    },
  ]
}

async function budgetChanges(): Promise<Change[]> {
  const found = await all('/api/v1/budgets')
  return wanted.budgets.flatMap((budget): Change[] => {
    const old = found.find(({ name }) => name === budget.name)
    if (old === undefined) {
      return [{ text: `+ budget ${budget.name}`, apply: () => hub.post('/api/v1/budgets', { body: budget }) }]
    }
    if (has(old, budget)) return []
    return [{ text: `~ budget ${budget.name}`, apply: () => hub.patch(`/api/v1/budgets/${old.budget_id}`, budget) }]
  })
}

/** Shows the secret of a new account, which the Hub returns only once. */
async function accountChanges(): Promise<Change[]> {
  const names = new Set((await all('/api/v1/service-accounts')).map(({ name }) => name))
  return wanted.service_accounts
    .filter(({ name }) => !names.has(name))
    .map((account) => ({
      text: `+ service account ${account.name}`,
      apply: async () => {
        const made = await hub.post<Item>('/api/v1/service-accounts', { body: account })
        console.log(`  HUB_CLIENT_ID=${made.client_id} HUB_CLIENT_SECRET=${made.client_secret}`)
      },
    }))
}
