// Prints every record of a tenant, one answer a line. Usage: take-records.ts BASE_URL ACCOUNT.json
import { readFileSync } from 'node:fs'
import { HubClient } from '../sdk/typescript/src/index.ts'

const [baseUrl = '', accountFile = ''] = process.argv.slice(2)
const account = JSON.parse(readFileSync(accountFile, 'utf8'))
const hub = new HubClient({
  baseUrl,
  tenant: account.tenant,
  clientId: account.client_id,
  clientSecret: account.client_secret,
})
let cursor: string | undefined
do {
  const page = await hub.get<{ records: object[]; next_cursor: string | null }>('/api/v1/hub/records', {
    limit: 1000,
    cursor,
  })
  process.stdout.write(page.records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  cursor = page.next_cursor ?? undefined
} while (cursor !== undefined)
