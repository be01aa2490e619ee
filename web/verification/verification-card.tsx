import { Anchor, Button, Group, Loader, Paper, Stack, Text, Title } from '@mantine/core'
import {
  IconChevronDown,
  IconChevronUp,
  IconRefresh,
  IconShieldCheck,
  IconShieldQuestion,
  IconShieldX,
} from '@tabler/icons-react'
import { useId, useState } from 'react'
import type { JsonObject } from '../../provenance/index.ts'
import { useMe } from '../api/me.ts'
import { queryClient } from '../api/query-client.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { ProblemNotice } from '../components/problem-notice.tsx'
import { Notice } from '../ui/notice.tsx'
import { NoCrypto } from './browser-crypto.ts'
import { verdictOfRecord } from './record-verdict.ts'
import { ServerVerdict, type ServerVerdictText } from './server-verdict.tsx'
import { stepNames, type Verdict } from './steps.ts'
import { forgetLog, useVerification } from './use-verification.ts'
import styles from './verification-card.module.css'
import { PendingSteps, VerificationSteps } from './verification-steps.tsx'

interface VerificationCardProps {
  recordId: string
  /** The record as received from the Hub. */
  record: JsonObject
  /** The time of reading; a record that is read again is verified again. */
  readAt: number
  /** The Hub's own verdict, which does not affect the browser's. */
  server: ServerVerdictText | undefined
  /** Reads the record again. */
  onReload(): void
}

const looks: Record<Verdict, { Icon: typeof IconShieldX; color: string; title: string; about: string }> = {
  verified: {
    Icon: IconShieldCheck,
    color: 'seal',
    title: 'Verified by this browser',
    about: `All ${stepNames.length} steps passed`,
  },
  unproven: {
    Icon: IconShieldQuestion,
    color: 'orange',
    title: 'Not verifiable yet',
    about: 'Nothing is wrong so far, but not every step could be checked. Try again in a moment.',
  },
  tampered: {
    Icon: IconShieldX,
    color: 'red',
    title: 'Tampered',
    about: 'At least one step failed. What the Hub itself says of the record does not change that.',
  },
}

/**
 * Verifies the record in this browser when it is shown. One line states that all steps passed; any other result opens
 * the steps, and the user cannot close them.
 */
export function VerificationCard({ recordId, record, readAt, server, onReload }: VerificationCardProps) {
  const { data, error, isPending, isFetching } = useVerification(recordId, record, readAt)
  const [wanted, setWanted] = useState(false)
  const stepsId = useId()
  const verdict = data && verdictOfRecord(data)
  const look = verdict && looks[verdict]
  const isDoubtful = verdict !== undefined && (verdict !== 'verified' || server?.verified === false)
  const opened = wanted || isDoubtful
  const agreed =
    verdict === 'verified' && server && (server.verified ? '; the Hub agrees.' : '; the Hub says otherwise.')
  return (
    <Paper
      withBorder
      component="section"
      aria-labelledby="verification-title"
      className={styles.card}
      // A record that fails by itself is red at once, while the log is still being read.
      aria-busy={isFetching}
      data-verdict={verdict}
    >
      <Group gap="sm" justify="space-between" p="md" className={styles.head}>
        <Group gap="sm" wrap="nowrap" flex="1 1 17rem" miw={0}>
          <span className={styles.icon}>
            {look ? (
              <look.Icon size={28} aria-hidden color={`var(--mantine-color-${look.color}-text)`} />
            ) : (
              isPending && <Loader size={24} aria-hidden />
            )}
          </span>
          <div role="status" style={{ minWidth: 0 }}>
            <Title order={2} size="h4" id="verification-title">
              {look?.title ?? (error ? 'Not verified by this browser' : 'Verifying in this browser …')}
            </Title>
            {/* One line while all steps pass, and while the verification runs, so that nothing moves. */}
            <Text size="sm">
              {look ? [look.about, agreed].filter(Boolean).join('') : error ? 'No step was made.' : 'Step by step.'}
            </Text>
          </div>
        </Group>
        <Group gap="xs">
          {!isDoubtful && !error && (
            <Button
              size="xs"
              variant="default"
              aria-expanded={opened}
              aria-controls={stepsId}
              rightSection={
                opened ? <IconChevronUp size={14} aria-hidden /> : <IconChevronDown size={14} aria-hidden />
              }
              onClick={() => setWanted(!opened)}
            >
              {`${opened ? 'Hide' : 'Show'} the ${stepNames.length} steps`}
            </Button>
          )}
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={14} aria-hidden />}
            onClick={() => {
              // Open steps stay open, regardless of the result.
              setWanted(opened)
              onReload()
            }}
          >
            Verify again
          </Button>
        </Group>
      </Group>
      <Stack gap="sm" className={styles.body} id={stepsId}>
        {error instanceof NoCrypto ? (
          <Notice kind="info" title="This browser cannot verify here">
            {`${error.message} Open the Hub over https, or use hub verify with an export.`}
          </Notice>
        ) : (
          error !== null && <ProblemNotice error={error} title="The verification did not run" onRetry={onReload} />
        )}
        {verdict && server && <Disagreement verdict={verdict} server={server} />}
        {opened && (
          <>
            {!data && !error && <PendingSteps />}
            {data && <VerificationSteps key={`${readAt} ${data.steps.length}`} steps={data.steps} />}
            {server && <ServerVerdict word={server} />}
            <WhatItProves />
          </>
        )}
      </Stack>
    </Paper>
  )
}

function Disagreement({ verdict, server }: { verdict: Verdict; server: ServerVerdictText }) {
  if (verdict === 'tampered' && server.verified) {
    return (
      <Notice kind="tampered" title="The Hub says “verified”, and this browser found otherwise" urgent>
        Believe the steps below: they were computed here. The Hub, or somebody between it and you, is not telling the
        truth. Tell the operator and the auditor of the tenant, by another way than this page.
      </Notice>
    )
  }
  if (verdict === 'verified' && !server.verified) {
    return (
      <Notice kind="warning" title="The Hub says “not verified”, though every step here passed" urgent>
        The record is what was sealed. The Hub also compares what only it has: the columns that records are found by,
        and the holds over them. One of those was changed in its database.
      </Notice>
    )
  }
  return null
}

function WhatItProves() {
  const { tenant } = useMe()
  const [asked, setAsked] = useState(false)
  return (
    <>
      <Text size="xs" c="dimmed">
        This shows that the record is what the key of the log sealed, and that the log was not rewritten since this
        browser first saw it. Whether it is purged or held is the Hub's word. The page itself comes from the Hub: the
        independent way is an export and the command hub verify, on a machine of your own.{' '}
        <Anchor component="button" type="button" size="xs" onClick={() => setAsked(true)}>
          Forget the keys and log that this browser keeps …
        </Anchor>
      </Text>
      <ConfirmDialog
        opened={asked}
        onClose={() => setAsked(false)}
        title="Forget the keys and the log?"
        confirmLabel="Forget them"
        danger
        send={async () => forgetLog(tenant)}
        done="Forgotten. The next verification takes the first key on trust again."
        onDone={() => queryClient.invalidateQueries({ queryKey: ['verification', tenant] })}
      >
        <Text size="sm">
          The next verification takes the keys and the log of {tenant} on trust, as at a first visit. A history that was
          rewritten before then can no longer be noticed here. Do this only where the operator has told you why.
        </Text>
      </ConfirmDialog>
    </>
  )
}
