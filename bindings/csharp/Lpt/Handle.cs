using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using System.Text;

namespace Lpt
{
    /// <summary>Owns a handle of the library. Disposed in any order; a finalizer ends what was forgotten.</summary>
    public abstract class Handle : SafeHandle
    {
        private GCHandle pin;
        private List<Handle> kept;

        internal Handle(IntPtr raw) : base(IntPtr.Zero, true) { SetHandle(raw); }

        public override bool IsInvalid { get { return handle == IntPtr.Zero; } }

        /// <summary>Calls the library's function that destroys.</summary>
        protected abstract void Destroy();

        protected override bool ReleaseHandle()
        {
            Destroy();
            if (pin.IsAllocated) pin.Free();
            if (kept != null) kept.ForEach(other => other.DangerousRelease());
            return true;
        }

        /// <summary>The array stays where it is as long as this lives.</summary>
        internal void Hold(GCHandle array) { pin = array; }

        /// <summary>Another handle, and the array that it holds, lives as long as this.</summary>
        internal void Keep(Handle other)
        {
            var isAdded = false;
            other.DangerousAddRef(ref isAdded);
            (kept = kept ?? new List<Handle>()).Add(other);
        }
    }

    /// <summary>A call that did not end well: its status, and the library's text. What a callback threw is InnerException.</summary>
    public sealed class LptException : Exception
    {
        public LptException(Status status, string text, Exception inner = null) : base(text, inner) { Status = status; }

        public Status Status { get; private set; }

        /// <summary>The status in words, such as "invalid argument".</summary>
        public string StatusText { get { return Text.Of(Status); } }
    }

    internal static unsafe class Text
    {
        internal static string Of(Status status) { return Of(Native.lpt_status_string(status)); }

        /// <summary>UTF-8 that ends with a zero.</summary>
        internal static string Of(byte* text)
        {
            var length = 0;
            while (text[length] != 0) ++length;
            return Encoding.UTF8.GetString(text, length);
        }

        internal static byte[] ToUtf8(string text) { return Encoding.UTF8.GetBytes(text + "\0"); }

        /// <summary>Writes the library's defaults of a struct.</summary>
        internal static void Initialize(string type, void* value, int bytes)
        {
            fixed (byte* name = ToUtf8(type)) Native.lpt_struct_init(name, value, (UIntPtr)bytes);
        }
    }
}
