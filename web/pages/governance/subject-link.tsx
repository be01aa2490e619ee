import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMe } from '../../api/me.ts'
import { destinationAt, mayOpen } from '../../app/navigation.ts'
import { useActorName } from '../../components/actor-name.tsx'
import { addressOf } from './subject-address.ts'

/** What an event is about, with a link to where that is looked at, for whoever may go there, or plain. */
export function SubjectLink({ subject, plain = false }: { subject: string | undefined; plain?: boolean }) {
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
  if (plain || !address || !page || !mayOpen(page, me)) {
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
