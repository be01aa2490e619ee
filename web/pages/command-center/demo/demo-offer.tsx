import { Button, Code, Text } from '@mantine/core'
import { api } from '../../../api/api-client.ts'
import { useMe } from '../../../api/me.ts'
import { useDemo } from './demo-load.ts'

/** Returns the command that loads the same data. */
export function demoCommand(tenant: string): string {
  return `npm run hub -- demo${tenant === 'demo' ? '' : ` --tenant ${tenant}`}`
}

/** Returns true if the tenant can take the demo data, which has content: only Mode A can. Undefined until known. */
function useTakesDemo(): boolean | undefined {
  const { isOffered } = useDemo()
  const { data } = api.useQuery('get', '/api/v1/tenant', {}, { enabled: isOffered })
  return isOffered ? data && data.mode === 'A' : false
}

/** Fills the tenant, as a trial of the Hub without a connected platform. */
export function DemoButton() {
  const { start } = useDemo()
  const takesDemo = useTakesDemo()
  if (takesDemo === false) return null
  return (
    <Button onClick={start} loading={takesDemo === undefined}>
      Load demo data
    </Button>
  )
}

/** Describes what the button loads, and that it cannot be undone. */
export function DemoDescription() {
  const { tenant } = useMe()
  return useTakesDemo() !== false ? (
    <Text size="xs" c="dimmed" maw="36rem">
      The demo data is about 19,000 invocations of a real trace, spread over the last 30 days, with their real token
      counts. The company around them is made up: 120 people, skills, decisions, prices and costs. Records cannot be
      taken back, so use a tenant made for it; a fresh tenant starts empty again. The command{' '}
      <Code>{demoCommand(tenant)}</Code> does the same.
    </Text>
  ) : null
}
