import { Box, Button, List, Stack, Text, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type ApiResponse, api, hub } from '../../../api/api-client.ts'
import { useMe } from '../../../api/me.ts'
import { ActorName } from '../../../components/actor-name.tsx'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'
import { LinkText } from '../../../components/link-text.tsx'
import { QueryBoundary } from '../../../components/query-boundary.tsx'
import { DescriptionItem, DescriptionList } from '../../../ui/description-list.tsx'
import { SidePanel } from '../../../ui/dialog.tsx'
import { formatCount } from '../../../ui/formats.ts'
import { TimeText } from '../../../ui/time-text.tsx'
import { HoldState, scopeOf } from './holds-table.tsx'

const reasonLength = 500

interface HoldDrawerProps {
  holdId: string | undefined
  onClose(): void
}

/** Shows a hold: who placed it, its scope and reason, and the button that releases it. */
export function HoldDrawer({ holdId, onClose }: HoldDrawerProps) {
  const query = api.useQuery(
    'get',
    '/api/v1/hub/legal-holds/{hold_id}',
    { params: { path: { hold_id: holdId ?? '' } } },
    { enabled: holdId !== undefined },
  )
  return (
    <SidePanel
      opened={holdId !== undefined}
      onClose={onClose}
      size="lg"
      kind="Legal hold"
      title={query.data?.name}
      closeButtonProps={{ 'aria-label': 'Close details' }}
    >
      {holdId && (
        <QueryBoundary query={query} what="details of the hold">
          {(hold) => <HoldDetails hold={hold} />}
        </QueryBoundary>
      )}
    </SidePanel>
  )
}

function HoldDetails({ hold }: { hold: ApiResponse<'getHold'> }) {
  const me = useMe()
  const named = hold.record_ids ?? []
  return (
    <Stack gap="lg">
      <DescriptionList>
        <DescriptionItem name="State">
          <HoldState active={hold.active} />
        </DescriptionItem>
        <DescriptionItem name="Scope">{scopeOf(hold)}</DescriptionItem>
        <DescriptionItem name="Why">{hold.reason}</DescriptionItem>
        <DescriptionItem name="Placed">
          <TimeText iso={hold.created_at} /> by <ActorName id={hold.created_by} />
        </DescriptionItem>
        {hold.released_at && (
          <>
            <DescriptionItem name="Released">
              <TimeText iso={hold.released_at} /> by <ActorName id={hold.released_by ?? ''} />
            </DescriptionItem>
            <DescriptionItem name="Because">{hold.release_reason}</DescriptionItem>
          </>
        )}
      </DescriptionList>
      {hold.active && me.may('releaseHold') && <ReleaseButton hold={hold} />}
      {named.length > 0 && (
        <Box component="section" aria-labelledby="held-records">
          <Title order={3} size="h4" mb="xs" id="held-records">
            Records it names
          </Title>
          <List size="sm" listStyleType="none" spacing={4}>
            {named.map((recordId) => (
              <List.Item key={recordId}>
                <LinkText to="/records/$recordId" params={{ recordId }} size="sm" ff="monospace">
                  {recordId}
                </LinkText>
              </List.Item>
            ))}
          </List>
          {(hold.record_count ?? 0) > named.length && (
            <Text size="sm" c="dimmed" mt="xs">
              The first {formatCount(named.length)} of {formatCount(hold.record_count)}.
            </Text>
          )}
        </Box>
      )}
    </Stack>
  )
}

function ReleaseButton({ hold }: { hold: ApiResponse<'getHold'> }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" onClick={open} w="fit-content">
        Release hold
      </Button>
      <ConfirmDialog
        opened={opened}
        onClose={close}
        title={`Release “${hold.name}”?`}
        confirmLabel="Release hold"
        danger
        reason={{ label: 'Reason', maxLength: reasonLength, required: true }}
        failed="The hold was not released"
        send={(reason) =>
          hub.POST('/api/v1/hub/legal-holds/{hold_id}:release', {
            params: { path: { hold_id: hold.hold_id } },
            body: { reason },
          })
        }
        done={`“${hold.name}” is released.`}
        refresh={['/api/v1/hub/legal-holds']}
      >
        <Text size="sm">
          Records that no other hold is over can be purged from then on, and the buffers of those that are purged
          already go on. A release ends a hold for good: to hold again, place another. The reason goes into a governance
          event.
        </Text>
      </ConfirmDialog>
    </>
  )
}
