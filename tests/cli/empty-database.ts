import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { clientConfig, connectionUrl } from '../../server/db/connection-settings.ts'

/** A database of the test cluster with nothing in it. */
export async function createEmptyDatabase() {
  const cluster = inject('testCluster')
  const name = `hub_${randomBytes(8).toString('hex')}`
  const administer = async (statement: string) => {
    const client = new pg.Client(clientConfig(cluster.superuser, 'hub-test'))
    await client.connect()
    await client.query(statement).finally(() => client.end())
  }
  await administer(`create database ${name} template template0 encoding 'UTF8' owner hub_owner`)
  const connect = async (target: typeof cluster.owner) => {
    const client = new pg.Client(clientConfig({ ...target, database: name }, 'hub-test'))
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
    return client
  }
  const clients: pg.Client[] = []
  return {
    url: connectionUrl({ ...cluster.owner, database: name }),
    target: { ...cluster.owner, database: name },
    owner: () => connect(cluster.owner),
    superuser: () => connect(cluster.superuser),
    drop: async () => {
      await Promise.all(clients.map((client) => client.end()))
      await administer(`drop database ${name} with (force)`)
    },
  }
}
