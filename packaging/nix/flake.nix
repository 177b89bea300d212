# forage for Nix on Linux. Untried: its syntax is checked, and it was never built, since that needs what nixpkgs downloads.
# In a clone: nix run path:packaging/nix
{
  description = "Web search, reading, research and memory for agents, over MCP and REST";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [
        "x86_64-linux"
        "aarch64-linux"
      ];
      each = function: nixpkgs.lib.genAttrs systems (system: function nixpkgs.legacyPackages.${system});
      source = ../..;
      version = builtins.head (
        builtins.match ".*\n  version: '([^']+)'.*" (builtins.readFile "${source}/meson.build")
      );
    in
    {
      packages = each (pkgs: {
        default = pkgs.stdenv.mkDerivation {
          pname = "forage";
          inherit version;
          src = source;
          nativeBuildInputs = with pkgs; [
            meson
            ninja
            pkg-config
            python3
            makeWrapper
          ];
          buildInputs = with pkgs; [
            c-ares
            curl
            lexbor
            libpq
            libstemmer
            sqlite
            utf8proc
            yyjson
            zlib
          ];
          ninjaFlags = [ "forage" ];
          # These are opened at run time, and pdftotext is a program of its own.
          postInstall = ''
            wrapProgram $out/bin/forage \
              --prefix LD_LIBRARY_PATH : ${pkgs.lib.makeLibraryPath (with pkgs; [ curl c-ares libpq ])} \
              --suffix PATH : ${pkgs.lib.makeBinPath [ pkgs.poppler-utils ]}
          '';
          meta = {
            description = "Web search, reading, research and memory for agents, over MCP and REST";
            license = pkgs.lib.licenses.mit;
            mainProgram = "forage";
            platforms = systems;
          };
        };
      });
    };
}
