import { Anchor, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useMe } from '../../api/me.ts'
import { destinationAt, mayOpen } from '../../app/navigation.ts'
import { addressOf, partsOf, shortId } from './subject-address.ts'
import { useSubjectName } from './subject-name.ts'

interface SubjectLinkProps {
  subject: string | undefined
  /** Shows text without a link. */
  plain?: boolean
  /** Shows the whole id. */
  whole?: boolean
  /** For a row that opens by the keyboard: Tab skips the link, since a table may have thousands. */
  inRow?: boolean
}

/** Shows the subject of an event, by its name if known, with a link for users who may open it. */
export function SubjectLink({ subject, plain = false, whole = false, inRow = false }: SubjectLinkProps) {
  const me = useMe()
  const { kind, id } = partsOf(subject ?? '')
  const name = useSubjectName(kind, id)
  if (subject === undefined) {
    return (
      <Text span inherit c="dimmed">
        names nothing
      </Text>
    )
  }
  const address = addressOf(kind, id)
  const page = address && destinationAt(address.split('?')[0] ?? '')
  const isPerson = name !== undefined && kind === 'user'
  const said = `${kind && !isPerson ? `${kind.replaceAll('_', ' ')} ` : ''}${name || (whole ? id : shortId(id))}`
  if (plain || !address || !page || !mayOpen(page, me)) {
    return (
      <Text span inherit title={subject}>
        {said}
      </Text>
    )
  }
  return (
    <Anchor
      renderRoot={(props) => <Link to={address} {...props} />}
      inherit
      title={subject}
      tabIndex={inRow ? -1 : undefined}
    >
      {said}
    </Anchor>
  )
}
