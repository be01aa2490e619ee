import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMe } from '../../api/me.ts'
import { destinationAt, mayOpen } from '../../app/navigation.ts'
import { useActorName } from '../../components/actor-name.tsx'

/** The page where the thing of a subject is looked at; undefined where it has none. */
function addressOf(kind: string, id: string): string | undefined {
  const part = encodeURIComponent(id)
  if (kind === 'record') return `/records/${part}`
  if (kind === 'hold') return `/governance/holds?hold=${part}`
  if (kind === 'export') return `/exports/${part}`
  if (kind === 'webhook') return `/webhooks/${part}`
  return {
    user: '/onboarding/roster',
    service_account: '/settings/service-accounts',
    connection: '/onboarding/sign-in',
    connector: '/onboarding/connectors',
    sync: '/onboarding/directory',
    cowork: '/onboarding/skills',
    skill: '/onboarding/skills',
    republish: '/onboarding/skills',
    archetype: '/onboarding/grants',
    tenant: '/settings/tenant',
    log: '/governance/log',
    keys: '/governance/log',
    seal: '/governance/log',
  }[kind]
}

/** What an event is about, with a link to where that is looked at, for whoever may go there. */
export function SubjectLink({ subject }: { subject: string | undefined }) {
  const me = useMe()
  const at = subject?.indexOf(':') ?? -1
  const kind = subject && at > 0 ? subject.slice(0, at) : ''
  const id = subject?.slice(at + 1) ?? ''
  const name = useActorName(id)
  if (subject === undefined) {
    return (
      <Text span inherit c="dimmed">
        names nothing
      </Text>
    )
  }
  const address = addressOf(kind, id)
  const page = address && destinationAt(address.split('?')[0] ?? '')
  const said = (
    <>
      {kind && !name && `${kind.replaceAll('_', ' ')} `}
      {name ?? id}
    </>
  )
  if (!address || !page || !mayOpen(page, me)) {
    return (
      <Text span inherit title={subject}>
        {said}
      </Text>
    )
  }
  return (
    <Anchor renderRoot={(props) => <Link to={address} {...props} />} inherit title={subject}>
      {said}
    </Anchor>
  )
}
