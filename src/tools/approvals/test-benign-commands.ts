/** Commands that people who develop software really use. Almost none of them may ask inside a sandbox. */
export const benignCommands: readonly string[] = String.raw`
ls -la
ls -lah --color=never src/
pwd
cd src && ls
cat package.json
cat -n src/main.ts | head -50
head -n 20 README.md
tail -f -n 100 logs/app.log
tail -n +10 file.txt
wc -l src/**/*.ts
wc -l $(git ls-files '*.ts')
grep -rn "TODO" src/
grep -rn --include='*.ts' "createGate" . | head -20
grep -E '^(import|export)' src/index.ts | sort | uniq -c | sort -rn
grep -v '^#' .env.example
rg -n "function \w+\(" -t ts
rg --files | wc -l
find . -name '*.ts' -not -path './node_modules/*' | xargs wc -l | tail -1
find . -type f -name '*.log' -delete
find . -name __pycache__ -type d -exec rm -rf {} +
find src -name '*.test.ts' -print0 | xargs -0 grep -l "describe"
find . -maxdepth 2 -type d | sort
find . -type f -size +1M -exec ls -lh {} \;
find . -mtime -1 -type f
find . -empty -type d -delete
sed -n '10,30p' src/main.ts
sed -i 's/foo/bar/g' src/file.ts
sed -i '' -e 's/foo/bar/' src/file.ts
sed -e 's/^/  /' notes.txt > indented.txt
sed -i.bak '/debug/d' config.ini
awk '{print $1}' access.log | sort | uniq -c
awk -F, 'NR>1 {sum += $3} END {print sum}' data.csv
awk '/start/,/end/' file.txt
cut -d: -f1 users.txt | sort
tr '[:upper:]' '[:lower:]' < in.txt > out.txt
sort -u names.txt -o names.txt
diff -u a.txt b.txt
diff <(sort a.txt) <(sort b.txt)
comm -12 <(sort a) <(sort b)
jq '.dependencies | keys[]' package.json
jq -r '.[] | select(.age > 30) | .name' people.json
jq '.version = "1.2.3"' package.json > tmp.json && mv tmp.json package.json
cat data.json | jq -c '.items[]' | while read -r item; do echo "$item" | jq -r .id; done
yq '.services' docker-compose.yml
python3 -m venv .venv
python3 -m pytest -x -q
python3 -m pytest tests/test_api.py::test_login -vv
python3 -c 'import sys; print(sys.version)'
python3 -c "import json; print(json.load(open('package.json'))['version'])"
python3 manage.py migrate
python3 manage.py runserver 0.0.0.0:8000
python3 -m http.server 8080
python3 script.py --input data.csv --output result.json
python3 -m json.tool < data.json
python -m black src tests
pip install -r requirements.txt
pip install -e '.[dev]'
pip freeze > requirements.txt
pip list --outdated
. .venv/bin/activate && pytest
source .venv/bin/activate
uv pip install requests
uv run pytest
poetry install
poetry run pytest -q
ruff check . --fix
mypy src/
npm install
npm ci
npm install --save-dev typescript
npm test
npm run build
npm run lint -- --fix
npm run test:unit -- --watch=false
npm ls --depth=0
npm outdated
npm audit
npm pack --dry-run
npx tsc --noEmit
npx prettier --write 'src/**/*.ts'
npx eslint . --ext .ts,.tsx
npx vitest run
npx jest --coverage
yarn install --frozen-lockfile
yarn build
pnpm install
pnpm -r test
pnpm dlx create-vite my-app
bun install
bun test
node index.js
node --test
node --test --test-reporter=spec 'src/**/*.test.ts'
node -e 'console.log(process.version)'
node -p "require('./package.json').version"
node --inspect-brk=9229 server.js
NODE_ENV=production node server.js
NODE_OPTIONS=--max-old-space-size=4096 npm run build
PORT=3000 npm start
DEBUG=app:* node app.js 2>&1 | tee debug.log
tsc -p tsconfig.json
git status
git status --short
git log --oneline -20
git log --graph --all --decorate
git log -p -S 'needle' -- src/
git diff
git diff --stat HEAD~3
git diff main...feature -- '*.ts'
git show HEAD:src/main.ts
git blame -L 10,20 src/main.ts
git add -A
git add src/ && git commit -m "fix: handle empty input"
git commit -am 'wip'
git commit --amend --no-edit
git checkout -b feature/login
git checkout main
git checkout -- src/file.ts
git switch -c topic
git restore --staged .
git branch -a
git branch -d old-branch
git merge --no-ff feature
git rebase -i HEAD~3
git rebase main
git stash
git stash pop
git stash list
git reset --soft HEAD~1
git reset --hard HEAD
git clean -fd
git clean -fdx node_modules
git fetch origin
git pull --rebase
git push origin HEAD
git push -u origin feature/login
git push --force-with-lease
git clone https://github.com/example/project.git
git tag -a v1.0.0 -m "release"
git remote -v
git config user.email "ada@example.com"
git config --get remote.origin.url
git rev-parse --short HEAD
git ls-files | grep -c ts
git cherry-pick abc123
git bisect start
git bisect run npm test
git submodule update --init --recursive
git worktree add ../other main
git grep -n "pattern" -- '*.go'
git archive --format=tar HEAD | tar -x -C /tmp/export
git shortlog -sn
git reflog
git format-patch -1 HEAD
git apply fix.patch
git show-ref --tags
make
make -j4
make clean && make all
make test VERBOSE=1
make -C build install DESTDIR=./out
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build --parallel
ninja -C build
./configure --prefix="$PWD/out"
./gradlew build
./mvnw -q test
mvn -q -DskipTests package
cargo build --release
cargo test -- --nocapture
cargo clippy --all-targets -- -D warnings
cargo fmt --check
cargo run -- --help
rustc --version
go build ./...
go test ./... -run TestFoo -count=1
go mod tidy
go vet ./...
gofmt -l -w .
gcc -O2 -o main main.c && ./main
g++ -std=c++20 -Wall main.cpp -o main
clang-format -i src/*.cpp
javac Main.java && java Main
ruby script.rb
bundle install
bundle exec rspec
bundle exec rails db:migrate
php artisan migrate
composer install
perl -ne 'print if /foo/' file.txt
perl -pi -e 's/foo/bar/g' *.txt
docker ps
docker ps -a --format '{{.Names}}'
docker images
docker compose up -d
docker compose logs -f web
docker build -t app:latest .
docker run --rm -it -v "$PWD":/app -w /app node:22 npm test
docker exec -it db psql -U postgres
docker inspect app | jq '.[0].State'
docker system df
kubectl get pods -n default
kubectl logs -f deploy/api
terraform plan
helm list
psql -c 'select 1'
sqlite3 app.db '.tables'
sqlite3 app.db "select count(*) from users"
redis-cli ping
mysql -e 'show tables' mydb
curl -s https://api.example.com/health
curl -sSL https://example.com/data.json -o data.json
curl -X POST -H 'Content-Type: application/json' -d '{"a":1}' http://localhost:3000/api
curl -i http://127.0.0.1:8080/
wget -q https://example.com/file.tar.gz
tar -xzf file.tar.gz
tar -czf backup.tar.gz src docs
tar -tf archive.tar | head
unzip -o archive.zip -d out
zip -r site.zip public
gzip -dk file.gz
mkdir -p src/{components,pages,lib}/__tests__
mkdir build && cd build && cmake ..
touch src/index.ts
cp -r template/ new-project/
cp .env.example .env
mv old.ts new.ts
mv src/*.js dist/
rm file.txt
rm -f *.log
rm -rf node_modules package-lock.json && npm install
rm -rf dist build coverage
rm -rf ./tmp/*
rm -r "old folder"
rmdir empty
ln -s ../shared shared
ln -sf target link
chmod +x script.sh
chmod -R u+rwX,go-w dist
chmod 644 src/*.ts
chown -R "$USER" out
du -sh * | sort -h
du -sh node_modules
df -h .
ps aux | grep node
top -b -n 1 | head -20
kill 12345
kill -9 $(lsof -t -i:3000)
kill %1
pkill -f "vite --port 5173"
lsof -i :3000
sleep 2 && curl -s localhost:3000
date +%Y-%m-%d
date -u '+%FT%TZ' > stamp
echo "hello world"
echo "$PATH" | tr ':' '\n'
echo 'export const x = 1;' > src/x.ts
echo "line" >> notes.md
printf '%s\n' a b c
printf "%-10s %5d\n" total 42
env | sort
export FOO=bar
which node
command -v python3
type -a node
uname -a
whoami
id
hostname
nproc
free -h
xxd file.bin | head
file dist/app
stat -c '%s %n' *.bin
md5sum file.iso
sha256sum dist/* > SHA256SUMS
base64 -d token.txt
echo aGVsbG8= | base64 -d
openssl rand -hex 32
openssl x509 -in cert.pem -noout -text
ssh-keygen -t ed25519 -f ./key -N ''
seq 1 10
for i in 1 2 3; do echo "$i"; done
for f in *.md; do echo "== $f"; head -5 "$f"; done
for f in $(git diff --name-only); do npx eslint "$f"; done
for dir in packages/*/; do (cd "$dir" && npm test); done
for i in {1..5}; do curl -s -o /dev/null -w '%{http_code}\n' localhost:3000; done
for ((i=0; i<10; i++)); do echo $i; done
while read -r line; do echo "$line"; done < input.txt
while ! nc -z localhost 5432; do sleep 1; done
until curl -sf localhost:3000/health; do sleep 1; done
if [ -f package.json ]; then npm test; else echo none; fi
if [[ $(git status --porcelain) ]]; then echo dirty; fi
[ -d dist ] && rm -rf dist
[[ -n "$CI" ]] || echo local
case "$1" in start) npm start;; stop) npm stop;; *) echo usage;; esac
test -f Makefile && make
greet() { echo "hi $1"; }; greet ada
x=5; y=$((x * 2)); echo $y
name="world"; echo "hello @{name^}"
files=(a.txt b.txt); for f in "@{files[@]}"; do cat "$f"; done
(cd frontend && npm run build) && (cd backend && npm run build)
npm run dev &
npm run dev > dev.log 2>&1 &
nohup node server.js > server.log 2>&1 &
time npm run build
timeout 30 npm test
watch -n 2 ls
tee out.txt < in.txt
cat a.txt b.txt > c.txt
cat <<'EOF' > config.yaml␤name: test␤version: 1␤EOF
cat > src/hello.ts <<EOF␤export const hello = "world";␤EOF
cat <<'PY' > gen.py␤import os␤print(os.getcwd())␤PY
python3 - <<'PY'␤print("hi")␤PY
python3 <<EOF␤import json␤print(json.dumps({"a": 1}))␤EOF
node <<'JS'␤console.log(1 + 1)␤JS
bash -c 'echo hi'
bash scripts/build.sh
sh -e scripts/test.sh
./scripts/deploy.sh --dry-run
bash -n script.sh
set -euo pipefail; npm ci; npm test
set -x; make; set +x
trap 'rm -f "$tmp"' EXIT; tmp=$(mktemp); echo x > "$tmp"
tmp=$(mktemp -d) && cp -r src "$tmp" && ls "$tmp"
xargs -n1 -P4 npm view < packages.txt
ls *.png | xargs -I{} convert {} -resize 50% small-{}
git log --format=%H | head -1 | xargs git show --stat
ffmpeg -i in.mp4 -vf scale=640:-1 out.mp4
convert in.png -resize 200x200 out.png
pandoc README.md -o README.pdf
shellcheck scripts/*.sh
hadolint Dockerfile
actionlint
pre-commit run --all-files
gh pr list
gh pr create --fill
aws s3 ls s3://bucket/
rsync -av --delete src/ backup/
scp file.txt host:/tmp/
ssh host uptime
tree -L 2 -I node_modules
column -t -s, data.csv
nl -ba file.txt
paste -d, a.txt b.txt
split -l 1000 big.csv part_
patch -p1 < fix.diff
strace -c ls
vim -es -c '%s/foo/bar/ge' -c 'wq' file.txt
stat package.json && echo ok || echo missing
! grep -q FIXME src/main.ts
true && echo yes
ls | wc -l; echo done
echo $((1024 * 1024))
echo "@{HOME}"
cd - && ls
cd ../ && ls
pushd src && ls && popd
history | tail
alias ll='ls -la'
unset FOO
read -r -p "name: " name
mapfile -t lines < file.txt
python3 -m timeit '"-".join(map(str, range(100)))'
node --check src/index.js
dd if=/dev/zero of=test.img bs=1M count=10
truncate -s 0 log.txt
yes | head -3
true
`
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.replaceAll('␤', '\n').replaceAll('@{', '${'));
