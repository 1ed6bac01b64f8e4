/**
 * What a program with these arguments would do, as far as it matters: what nobody may do, what is worth a question, what is
 * only worth one outside a sandbox. One function for each kind of program; a path is judged by where it leads.
 */
import {
  checkWrite,
  copy,
  disk,
  edit,
  find,
  move,
  permissions,
  patch,
  remove,
  shred,
  sync,
  unpack,
  writeAll,
} from './file-rules.ts';
import {
  device,
  diskutil,
  everyProcess,
  init,
  kill,
  killByName,
  machine,
  power,
  services,
  talaria,
} from './machine-rules.ts';
import { readOptions } from './program-options.ts';
import type { Rule, RuleContext } from './rule.ts';
import { readable } from './shell-gaps.ts';

export function applyRule(name: string, given: readonly string[], context: RuleContext): void {
  const rule = rules[name] ?? (name.startsWith('mkfs') ? device : undefined);
  rule?.(given, context);
}

/** Whether something is known of it. */
export function hasRule(name: string): boolean {
  return rules[name] !== undefined || name.startsWith('mkfs');
}

/** Names with a rule, for a name of which only a part is known. */
export function namesWithRules(): readonly string[] {
  return [...Object.keys(rules), 'mkfs.ext4', 'mkfs.xfs', 'sh', 'bash', 'eval', 'env', 'sudo', 'xargs'];
}

const network: Rule = (given, context) => {
  const hosts = new Set(
    given.flatMap((word) => /^[a-z][a-z0-9+.-]*:\/\/(?:[^/@]*@)?([^/:?#]+)/i.exec(word)?.[1] ?? []),
  );
  for (const host of hosts) context.findings.risks.add(`reaches ${readable(host)}`);
  if (hosts.size === 0) context.findings.risks.add('reaches the network');
  const options = readOptions(given, { valued: 'oOP', longValued: ['output', 'output-document'] });
  for (const target of [...options.values('oO', 'output'), ...options.values('', 'output-document')]) {
    if (target !== '-') checkWrite(target, context);
  }
};

const git: Rule = (given, context) => {
  const { operands } = readOptions(given, { valued: 'cC', longValued: ['git-dir', 'work-tree'], endsAtOperand: true });
  const [verb = '', ...rest] = operands;
  if (/^(?:push|pull|fetch|clone|ls-remote|remote-https?)$/.test(verb))
    context.findings.risks.add('reaches the network');
  const isWriting =
    verb === 'config'
      ? rest.filter((word) => !word.startsWith('-')).length > 1
      : verb === 'remote' && /^(?:add|remove|rm|set-url|rename)$/.test(rest[0] ?? '');
  if (isWriting && !rest.includes('--global')) checkWrite(`${context.places.workspace}/.git/config`, context);
  if (verb === 'config' && rest.includes('--global') && isWriting)
    checkWrite(`${context.places.home}/.gitconfig`, context);
};

const containers: Rule = (given, { findings }) => {
  findings.risks.add('uses containers of the machine');
  if (
    given.some(
      (word) => /^(?:--privileged|--pid=host|--network=host)$/.test(word) || /^(?:-v=?|--volume=)?\/:/.test(word),
    )
  ) {
    findings.risks.add('gives a container the whole machine');
  }
};

const rootRights = machine("asks for root's rights");
const machineChange = machine('changes the machine');

const rules: Readonly<Record<string, Rule>> = {
  rm: remove,
  grm: remove,
  unlink: remove,
  rmdir: remove,
  srm: remove,
  del: remove,
  trash: remove,
  'trash-put': remove,
  rimraf: remove,
  shred,
  wipe: shred,
  scrub: shred,
  mv: move,
  gmv: move,
  cp: copy,
  gcp: copy,
  ln: copy,
  install: copy,
  tee: writeAll,
  mkdir: writeAll,
  patch,
  tar: unpack,
  bsdtar: unpack,
  gtar: unpack,
  unzip: unpack,
  cpio: unpack,
  truncate: writeAll,
  touch: writeAll,
  sponge: writeAll,
  fallocate: writeAll,
  mkfifo: writeAll,
  mknod: writeAll,
  chmod: permissions,
  gchmod: permissions,
  chown: permissions,
  chgrp: permissions,
  chattr: permissions,
  setfacl: permissions,
  chflags: permissions,
  find,
  gfind: find,
  rsync: sync,
  dd: disk,
  gdd: disk,
  dcfldd: disk,
  mkfs: device,
  mke2fs: device,
  mkswap: device,
  wipefs: device,
  fdisk: device,
  sfdisk: device,
  cfdisk: device,
  gdisk: device,
  sgdisk: device,
  parted: device,
  blkdiscard: device,
  hdparm: device,
  cryptsetup: device,
  pvcreate: device,
  badblocks: device,
  mdadm: device,
  nvme: device,
  newfs: device,
  tune2fs: device,
  diskutil,
  shutdown: power,
  reboot: power,
  halt: power,
  poweroff: power,
  init,
  telinit: init,
  systemctl: services,
  loginctl: services,
  service: machineChange,
  launchctl: services,
  kill,
  killall: killByName,
  pkill: killByName,
  skill: killByName,
  killall5: everyProcess,
  talaria,
  sudo: rootRights,
  doas: rootRights,
  su: rootRights,
  pkexec: rootRights,
  curl: network,
  wget: network,
  aria2c: network,
  nc: network,
  ncat: network,
  netcat: network,
  socat: network,
  ssh: network,
  scp: network,
  sftp: network,
  ftp: network,
  telnet: network,
  git,
  sed: edit,
  gsed: edit,
  perl: edit,
  docker: containers,
  podman: containers,
  kubectl: machine('changes a cluster'),
  crontab: machine('sets up what runs later'),
  at: machine('sets up what runs later'),
  batch: machine('sets up what runs later'),
  mount: machineChange,
  umount: machineChange,
  modprobe: machineChange,
  insmod: machineChange,
  rmmod: machineChange,
  sysctl: machineChange,
  iptables: machineChange,
  nft: machineChange,
  ufw: machineChange,
  setenforce: machineChange,
  useradd: machineChange,
  userdel: machineChange,
  usermod: machineChange,
  passwd: machineChange,
  visudo: machineChange,
  swapoff: machineChange,
  chroot: machineChange,
  nsenter: machineChange,
  unshare: machineChange,
  csrutil: machineChange,
  apt: machineChange,
  'apt-get': machineChange,
  dpkg: machineChange,
  yum: machineChange,
  dnf: machineChange,
  brew: machineChange,
};
